#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "wire/access_rules.hpp"

/// The supervisor's judgement: what to do about a call once it is known where its paths lead. Pure.
namespace sandpipe::launcher {

enum class Kind : std::uint8_t { missing, file, directory, symlink, socket, fifo, device };

/// What a judgement needs to know of a place.
struct Site {
    std::string place;  ///< resolved; "" for what has none
    Kind kind = Kind::missing;
    bool ordinary = true;  ///< false: the last component is ".", ".." or "/", which no call makes or removes
    bool slashed = false;  ///< slashes follow the last component
    bool foreign = false;  ///< the host's, and on a mount that is none of the session's: its name means nothing there
    bool initial = false;  ///< the act is a part of the making of a repository (new_repositories.hpp)
};

enum class Decision : std::uint8_t {
    proceed,  ///< the kernel carries the call out, or refuses it as it would anyway
    refuse,   ///< with `error`, for a reason that is none of the policy's
    deny,     ///< with `error`, because of the policy
    perform,  ///< the supervisor carries it out on behalf
};

struct Judgement {
    Decision decision = Decision::proceed;
    int error = 0;
    std::string rule;
    friend bool operator==(const Judgement&, const Judgement&) = default;
};

/// Tells whether what is moved would bring something to the place `tail` below its new name.
using BringsAlong = std::function<bool(std::string_view tail)>;

/// Tells whether a directory that is moved to `place` would bring something there that the glob of `rule`
/// matches; or, where `place` is its own, whether it has such.
using BringsMatch = std::function<bool(const wire::AccessRule& rule, std::string_view place)>;

/// What comes to a place with something new: nothing, or what a moved directory has in it.
struct Load {
    BringsAlong brings = [](std::string_view) { return false; };
    BringsMatch matches = [](const wire::AccessRule&, std::string_view) { return false; };
    std::string_view from;  ///< where it was until now
};

/// Whether open flags ask for anything but reading what exists; the same condition as in the filter.
[[nodiscard]] bool asks_to_write(std::uint64_t flags) noexcept;
/// Whether these flags mean something to renameat2(2) as it is now: what later kernels may add is not judged here.
[[nodiscard]] bool is_rename(unsigned flags) noexcept;

/// What exists is left to the kernel, unless the rules want even that to be done on behalf.
[[nodiscard]] Judgement judge_open(const wire::AccessRules& rules, std::uint64_t flags, const Site& site);
/// Opening for reading only, entering, reading a link.
[[nodiscard]] Judgement judge_read(const wire::AccessRules& rules, std::string_view place);
/// Contents or attributes of what exists.
[[nodiscard]] Judgement judge_change(const wire::AccessRules& rules, const Site& site);
/// Never left to the kernel, before which the path or descriptor could be exchanged. A directory with a protected place
/// below keeps its owner's rights to search it.
[[nodiscard]] Judgement judge_mode(const wire::AccessRules& rules, const Site& site, std::uint32_t mode);
/// An extended attribute. `mode`: the owner's rights, where it is an access control list that sets them.
[[nodiscard]] Judgement judge_attribute(const wire::AccessRules& rules, const Site& site,
                                        std::optional<std::uint32_t> mode);
[[nodiscard]] Judgement judge_truncate(const wire::AccessRules& rules, const Site& site);
[[nodiscard]] Judgement judge_execute(const wire::AccessRules& rules, const Site& site);
/// A file is mapped to be executed. `is_program`: it is made to be started, so that a loader would start what
/// only execve may. What a command can write, or nobody can name, is no library; what is foreign is nothing to execute.
[[nodiscard]] Judgement judge_map(const wire::AccessRules& rules, const Site& site, bool is_program);
/// Something of this kind comes to `site`, and may not bring anything to a protected place below it.
[[nodiscard]] Judgement judge_arrival(const wire::AccessRules& rules, const Site& site, Kind kind, const Load& load);
/// mkdir and mknod; symlink with `Kind::symlink`, which may not stand above a protected place either: it
/// would lead to a copy of it somewhere else.
[[nodiscard]] Judgement judge_make(const wire::AccessRules& rules, Kind made, const Site& site);
[[nodiscard]] Judgement judge_remove(const wire::AccessRules& rules, const Site& site);
[[nodiscard]] Judgement judge_link(const wire::AccessRules& rules, const Site& from, const Site& to);

struct Rename {
    Site from;
    Site to;
    unsigned flags = 0;  ///< RENAME_*
    BringsAlong from_brings;
    BringsAlong to_brings;  ///< asked for an exchange only
    BringsMatch from_matches;
    BringsMatch to_matches;  ///< asked for an exchange only
};
[[nodiscard]] Judgement judge_rename(const wire::AccessRules& rules, const Rename& rename);

}  // namespace sandpipe::launcher
