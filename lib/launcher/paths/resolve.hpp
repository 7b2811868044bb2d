#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/paths/judge.hpp"
#include "launcher/paths/supervised_caller.hpp"

namespace sandpipe::launcher {

/// Where a caller's path leads, held open so that nobody can exchange it any more.
struct Spot {
    unique_fd directory;   ///< O_PATH; `name` is an entry of it, or would be. Invalid behind a magic link
    std::string name;      ///< the last component; ".", ".." and "/" as they were written
    bool slashed = false;  ///< slashes follow the name: only a directory will do
    unique_fd object;      ///< O_PATH of what stands there now
    Kind kind = Kind::missing;
    std::string place;  ///< resolved; "" for what has no place: pipes, sockets, memfds, unlinked files

    /// The name as the calls of the at family take it, relative to `directory`.
    [[nodiscard]] std::string last() const { return slashed ? name + '/' : name; }
    [[nodiscard]] Site site() const;
};

/// Follows a caller's paths as the kernel would for the caller: from its cwd, its descriptors or the root,
/// with /proc/self and /proc/thread-self meaning the caller. One resolver serves one notified call. Functions
/// return 0, or the -errno that the kernel would give.
class Resolver {
  public:
    /// `restrictions` are the RESOLVE_* flags of the caller's openat2.
    explicit Resolver(const Caller& caller, std::uint64_t restrictions = 0) noexcept
        : caller_(caller), restrictions_(restrictions) {}

    /// The entry that `path` names; a final symbolic link is the entry itself.
    [[nodiscard]] int find_entry(int directory, std::string_view path, Spot& spot);
    /// What `path` leads to; behind a dangling link, the entry that would be made.
    [[nodiscard]] int find_target(int directory, std::string_view path, Spot& spot);
    /// The same, where it exists and no part of the way means anything else to the caller than here: its place alone, for
    /// less. "" if that cannot be said.
    [[nodiscard]] std::string plain_place(int directory, std::string_view path, bool stays_at_link) const;
    /// For a path that cannot be followed to its end: the place where the first component stands, or would, that is not
    /// there; behind what is out of reach the place that it names; "" if something else is wrong with it.
    [[nodiscard]] std::string blocked_place(int directory, std::string_view path);
    /// What the caller's own descriptor (or with AT_FDCWD its cwd) refers to.
    [[nodiscard]] int find_descriptor(int number, Spot& spot);

  private:
    [[nodiscard]] int start_at(int directory, std::string_view path, unique_fd& start) const;
    [[nodiscard]] int find(unique_fd start, std::string_view path, Spot& spot);
    [[nodiscard]] int walk(unique_fd start, std::string_view path, unique_fd& end, std::string& place);
    [[nodiscard]] int walk_by_hand(unique_fd start, std::string path, unique_fd& end);
    [[nodiscard]] int step(unique_fd& here, const std::string& name, std::string& rest);
    [[nodiscard]] bool pass_link(unique_fd& here, const std::string& name, std::string& rest);
    [[nodiscard]] int follow_by_kernel(Spot& spot) const;
    [[nodiscard]] int follow_last(Spot& spot);
    struct Link;
    [[nodiscard]] int read_link(int directory, const std::string& name, int link, Link& found);
    [[nodiscard]] int follow_magic(int directory, const std::string& name, const std::string& above,
                                   unique_fd& object) const;
    [[nodiscard]] std::string own_link_text(std::string_view name) const;

    const Caller& caller_;
    std::uint64_t restrictions_;
    int links_ = 0;
};

/// Whether moving `spot` to a place above `tail` would bring something to that very place: an entry of that
/// name below it, or a symbolic link on the way. What cannot be looked at counts.
[[nodiscard]] bool brings_along(const Spot& spot, std::string_view tail);

/// The place of `name` in the directory at `place`.
[[nodiscard]] std::string join(const std::string& place, const std::string& name);

}  // namespace sandpipe::launcher
