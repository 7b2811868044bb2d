#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "launcher/paths/judge.hpp"
#include "launcher/paths/resolve.hpp"

/// Two sessions on one tree share no lock, and the host has none: what is judged by its name may be another thing, or
/// stand elsewhere, when the call is carried out. So after each act on a name:
/// - what came there is judged once more: what stands at the name NOW (its kind, what is in it) and where its directory
///   stands NOW, never what was judged before. Of several acts that are forbidden only together, the one that looks
///   last sees the others';
/// - only arrivals are judged so. Something that has left, however its old place is called now, might as well have
///   left before that was called so, and is never put back to a place that is denied;
/// - what may not stand there is taken away: what was made is removed; what was moved goes back, or gets a name that
///   nobody can have taken before, beside that, beside the new one, or further up. Each of these is a move like others
///   and is looked at in the same way, until all is well;
/// - what can be carried out on the judged object itself, as linking, is not done by name at all.
/// Who shares the tree may hinder the taking back: by taking the name that something came from, by removing the
/// directory around that, by closing a directory (chmod(2)), by filling a new one.
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

/// The judgement of what stands at `spot` now, as something that came there from `from`: `perform` if it may, or if
/// nothing does. `place`: where that is now.
[[nodiscard]] Judgement judge_arrived(const wire::AccessRules& rules, const Spot& spot, std::string_view from,
                                      std::string& place);

/// Of what was made: the judgement of where it stands now, `place`. Without `perform` it has been taken away.
[[nodiscard]] Judgement judge_again(const wire::AccessRules& rules, const Spot& spot, Kind made,
                                    const Identity& identity, std::string& place);
/// What is added to the rule of a judgement that came too late.
inline constexpr std::string_view kStays = " (by two sessions together, and it cannot be taken back)";

/// Of what was renamed from `from` to `to`, and where both names are now.
struct Arrivals {
    Judgement judgement;
    std::string from_place, to_place;
};
[[nodiscard]] Arrivals judge_arrivals(const wire::AccessRules& rules, const Spot& from, const Spot& to, unsigned flags);

/// Of what `judge_arrivals` did not let stay: all of it goes back, or at least away. False if some is still there.
[[nodiscard]] bool move_back(const wire::AccessRules& rules, const Spot& from, const Spot& to, unsigned flags);

/// Removes the entry, which was made here, as long as it is that very thing; a directory in which something stands by
/// now goes elsewhere. False if it is still there.
[[nodiscard]] bool take_away(const wire::AccessRules& rules, const Spot& spot, const Identity& made);

}  // namespace sandpipe::launcher
