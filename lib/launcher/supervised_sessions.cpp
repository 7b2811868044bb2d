#include <errno.h>
#include <stdio.h>  // NOLINT: RENAME_* are GNU's

#include <utility>

#include "launcher/supervised_attempt.hpp"
#include "launcher/tree_search.hpp"

// The lock under which names are judged and made is one session's. Another session on the same tree may move a
// directory between the two, so that what was made, or moved, stands at a place that was not judged. So each looks
// again after its act: of two acts that are forbidden only together, the one that looks last sees the other's, and is
// taken back.

namespace sandpipe::launcher {
void Attempt::take_back_if_moved(Answer& answer, const Spot& spot, Kind made, const Identity& identity) const {
    if (answer.judgement.decision != Decision::perform || !spot.site().ordinary) return;
    std::string place;
    Judgement again = judge_again(rules_, spot, made, identity, place);
    if (again.decision == Decision::perform) return;
    answer.judgement = std::move(again);
    (call_.second_path.empty() ? answer.resolved : answer.second_resolved) = std::move(place);
}

void Attempt::take_back_if_moved(Answer& answer, Rename rename, const Spot& from, const Spot& to) const {
    if (answer.judgement.decision != Decision::perform || !rename.from.ordinary || !rename.to.ordinary) return;
    const std::string from_before = std::exchange(rename.from.place, place_now(from));
    const std::string to_before = std::exchange(rename.to.place, place_now(to));
    const bool may_bring = from.kind == Kind::directory || to.kind == Kind::directory;
    if (!may_bring && rename.from.place == from_before && rename.to.place == to_before) return;
    // What came stands where it came to.
    rename.from_brings = [&](std::string_view tail) { return brings_along(to, tail); };
    rename.to_brings = [&](std::string_view tail) { return brings_along(from, tail); };
    rename.from_matches = [&](const wire::AccessRule& rule, std::string_view place) {
        return brings_match(to, rule, place);
    };
    rename.to_matches = [&](const wire::AccessRule& rule, std::string_view place) {
        return brings_match(from, rule, place);
    };
    const unsigned flags = rename.flags;
    if (!(flags & RENAME_EXCHANGE)) rename.to.kind = Kind::missing;
    const bool told = !rename.from.place.empty() && !rename.to.place.empty();
    Judgement again = told ? judge_rename(rules_, rename) : Judgement{Decision::refuse, ENAMETOOLONG, {}};
    if (told && again.decision != Decision::deny) return;
    if (!move_back(from, to, flags)) again.rule += kStays;
    answer.judgement = std::move(again);
    answer.resolved = std::move(rename.from.place);
    answer.second_resolved = std::move(rename.to.place);
}

}  // namespace sandpipe::launcher
