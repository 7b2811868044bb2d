#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "launcher/judge.hpp"
#include "launcher/resolve.hpp"

/// Undoing an act of which another session has made something forbidden. Who shares the tree may hinder it: by taking
/// the name that something came from, by removing the directory around that, by closing a directory (chmod(2)), by
/// filling a new one.
namespace sandpipe::launcher {

/// Where the entry stands now: as before if its directory has been removed, "" if that is too deep to be told.
[[nodiscard]] std::string place_now(const Spot& spot);

/// What a name stands for: to know it again.
struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
};
/// That of the entry, which nobody else may have had the time to replace; none (all 0) if it is gone.
[[nodiscard]] Identity identity_of(const Spot& spot);
[[nodiscard]] Identity identity_of(int object);

/// Removes the entry, which was made here, as long as it is that very thing; a directory in which something stands by
/// now gets another name. False if it is still there.
[[nodiscard]] bool take_away(const Spot& spot, const Identity& made);

/// Of what was made: the judgement of where it stands now, `place`. Without `perform` it has been taken away.
[[nodiscard]] Judgement judge_again(const wire::AccessRules& rules, const Spot& spot, Kind made,
                                    const Identity& identity, std::string& place);
/// What is added to the rule of a judgement that came too late.
inline constexpr std::string_view kStays = " (by two sessions together, and it cannot be taken back)";

/// What was renamed from `from` to `to` goes back, or at least away from there. False if it is still there.
[[nodiscard]] bool move_back(const Spot& from, const Spot& to, unsigned flags);

}  // namespace sandpipe::launcher
