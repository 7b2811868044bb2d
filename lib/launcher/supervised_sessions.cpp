#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2 is GNU's
#include <unistd.h>

#include <string>
#include <utility>

#include "launcher/supervised_attempt.hpp"
#include "launcher/supervised_place.hpp"
#include "launcher/tree_search.hpp"

// The lock under which names are judged and made is one session's. Another session on the same tree may move a directory
// between the two, so that what was made, or moved, stands at a place that was not judged. So each looks again after its
// act: of two acts that are forbidden only together, the one that looks last sees the other's, and is taken back.

namespace sandpipe::launcher {
namespace {

// Names under which something is put back where its own has been taken.
constexpr int kOtherNames = 8;

/// Where the entry stands now; as before where that cannot be told, for then its directory has been removed.
std::string place_now(const Spot& spot) {
    const std::string above = spot.directory ? place_of(spot.directory.get()) : std::string();
    if (above.empty()) return spot.place;
    return above == "/" ? above + spot.name : above + '/' + spot.name;
}

void move_back(const Spot& from, const Spot& to, unsigned flags) {
    const unsigned back = flags & RENAME_EXCHANGE ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    const auto move_to = [&](const std::string& name) {
        return ::renameat2(to.directory.get(), to.name.c_str(), from.directory.get(), name.c_str(), back) == 0;
    };
    bool moved = move_to(from.name);
    for (int i = 0; !moved && back == RENAME_NOREPLACE && i < kOtherNames; ++i)
        moved = move_to(from.name + ".denied" + std::to_string(i));
}

}  // namespace

void Attempt::take_back_if_moved(Answer& answer, const Spot& spot, Kind made) const {
    if (answer.judgement.decision != Decision::perform) return;
    Site site{place_now(spot), Kind::missing};
    if (site.place == spot.place) return;
    Judgement again = judge_make(rules_, made, site);
    if (again.decision != Decision::deny) return;
    ::unlinkat(spot.directory.get(), spot.name.c_str(), made == Kind::directory ? AT_REMOVEDIR : 0);
    answer.judgement = std::move(again);
    (call_.second_path.empty() ? answer.resolved : answer.second_resolved) = std::move(site.place);
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
    Judgement again = judge_rename(rules_, rename);
    if (again.decision != Decision::deny) return;
    move_back(from, to, flags);
    answer.judgement = std::move(again);
    answer.resolved = std::move(rename.from.place);
    answer.second_resolved = std::move(rename.to.place);
}

}  // namespace sandpipe::launcher
