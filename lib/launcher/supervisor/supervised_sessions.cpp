#include <utility>

#include "launcher/supervisor/supervised_attempt.hpp"

// The lock under which names are judged and made is one session's: see taken_back.hpp.

namespace sandpipe::launcher {
void Attempt::take_back_if_moved(Answer& answer, const Spot& spot, Kind made, const Identity& identity) const {
    if (answer.judgement.decision != Decision::perform || !spot.site().ordinary) return;
    std::string place;
    Judgement again = judge_again(rules_, spot, made, identity, place);
    if (again.decision == Decision::perform) return;
    answer.judgement = std::move(again);
    (call_.second_path.empty() ? answer.resolved : answer.second_resolved) = std::move(place);
}

void Attempt::take_back_if_moved(Answer& answer, const Spot& from, const Spot& to) const {
    if (answer.judgement.decision != Decision::perform || !from.site().ordinary || !to.site().ordinary) return;
    const auto flags = static_cast<unsigned>(call_.flags);
    Arrivals found = judge_arrivals(rules_, from, to, flags);
    if (found.judgement.decision == Decision::perform) return;
    if (!move_back(rules_, from, to, flags)) found.judgement.rule += kStays;
    answer.judgement = std::move(found.judgement);
    answer.resolved = std::move(found.from_place);
    answer.second_resolved = std::move(found.to_place);
}

}  // namespace sandpipe::launcher
