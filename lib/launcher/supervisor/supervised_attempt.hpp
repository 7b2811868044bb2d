#pragma once

#include <cerrno>
#include <string>

#include "launcher/kernel/memory_map.hpp"
#include "launcher/supervisor/supervised_act.hpp"
#include "launcher/supervisor/taken_back.hpp"

namespace sandpipe::launcher {

inline int result_of(int value) { return value < 0 ? -errno : 0; }

inline Answer refused(int error) {
    Answer answer;
    answer.judgement = {Decision::refuse, -error, {}};
    return answer;
}

/// One notified call on files: each kind of act resolves, judges, and carries out what is the supervisor's
/// part.
class Attempt {
  public:
    Attempt(const wire::AccessRules& rules, NewRepositories& repositories, const ForeignFiles& foreign_files,
            const Caller& caller, const Call& call, const StillWaiting& still_waiting)
        : rules_(rules),
          repositories_(repositories),
          foreign_files_(foreign_files),
          caller_(caller),
          call_(call),
          still_waiting_(still_waiting) {}

    Answer open();
    Answer open_to_read();
    Answer read();
    Answer change_mode();
    Answer set_attribute();
    Answer change();
    Answer map();
    Answer make_executable();
    Answer make();
    Answer remove();
    Answer rename();
    Answer link();

  private:
    Answer unreachable(Resolver& resolver, int error) const;
    Answer execute(const Spot& program, Answer answer) const;
    Answer unreachable(const Spot& from, const Spot& to, int error) const;
    template <typename Carry>
    Answer settle(Judgement judgement, const Spot& spot, const Spot& second, Carry carry_out);
    Site site_of(const Spot& spot) const;
    int unless_unknown(int error, const Spot& spot) const;
    Judgement judge_code(const Spot& spot) const;
    Judgement judge_mapped(const Mapping& mapping) const;
    int find_changed(Resolver& resolver, Spot& spot) const;
    Answer open_cached();
    int find_opened(Resolver& resolver, Spot& spot) const;
    int open_new(const Spot& spot, unique_fd& file);
    unique_fd open_by_name(const Spot& spot, int flags) const;
    int open_again(const Spot& spot, unique_fd& file);
    int truncate(const Spot& spot);
    int make_at(const Spot& spot);
    int find_link_source(Spot& spot);
    void take_back_if_moved(Answer& answer, const Spot& spot, Kind made, const Identity& identity) const;
    void take_back_if_moved(Answer& answer, const Spot& from, const Spot& to) const;

    const wire::AccessRules& rules_;
    NewRepositories& repositories_;
    const ForeignFiles& foreign_files_;
    const Caller& caller_;
    const Call& call_;
    const StillWaiting& still_waiting_;
};

/// Carries out what was judged so, if the caller is still there: its last word on all that was read of it.
template <typename Carry>
Answer Attempt::settle(Judgement judgement, const Spot& spot, const Spot& second, Carry carry_out) {
    Answer answer;
    answer.judgement = std::move(judgement);
    answer.resolved = spot.place;
    answer.second_resolved = second.place;
    if (answer.judgement.decision != Decision::perform) return answer;
    const int error = still_waiting_() ? carry_out() : -EINTR;
    return error < 0 ? refused(error) : std::move(answer);
}

}  // namespace sandpipe::launcher
