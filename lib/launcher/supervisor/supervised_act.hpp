#pragma once

#include <sandpipe/denial_kind.hpp>
#include <sandpipe/unique_fd.hpp>

#include <functional>
#include <string>

#include "launcher/paths/judge.hpp"
#include "launcher/paths/resolve.hpp"
#include "launcher/supervisor/new_repositories.hpp"
#include "launcher/supervisor/supervised_call.hpp"
#include "launcher/view/host_tree.hpp"

namespace sandpipe::launcher {

/// How a call ends. With `perform` it has been carried out, and the caller gets 0 or, if there is one, `file`; but if
/// `waits`, that is a handle of a FIFO that nobody reads yet, and what is left is to open it and wait for a reader.
struct Answer {
    Judgement judgement;
    std::string path;  ///< what a Denial is about, if that is not the call's own path
    std::string resolved;
    std::string second_resolved;
    unique_fd file;
    bool waits = false;
    Spot made;  ///< where it was carried out: what was made is there, or nothing any more
    DenialKind kind = DenialKind::write;
};

/// False once the caller is gone, or is about to be interrupted: then what was read of it means nothing.
using StillWaiting = std::function<bool()>;

/// Resolves, judges and, where that is the supervisor's part, carries out. Nothing is done for a caller that
/// waits no more.
[[nodiscard]] Answer answer_call(const wire::AccessRules& rules, NewRepositories& repositories,
                                 const ForeignFiles& foreign_files, const Caller& caller, const Call& call,
                                 const StillWaiting& still_waiting);

/// Whether nothing can come of the call but a judgement.
[[nodiscard]] bool is_only_judged(const wire::AccessRules& rules, const Call& call);

/// Takes back a new file that the caller could not be given.
void unmake(const Answer& answer);

}  // namespace sandpipe::launcher
