#include "exit_status.hpp"

namespace sandpipe::cli {
namespace {

constexpr int kSignalBase = 128;

int status_of(const NotStarted& start) { return detail::exit_status_of(start); }

int status_of(const Exited& exited) { return exited.code; }

int status_of(const Signaled& signaled) { return kSignalBase + signaled.signal; }

}  // namespace

int exit_status(const CommandFacts& facts, int cancelled_by) {
    switch (facts.cause) {
        case Cause::timed_out:
            return kStatusTimedOut;
        case Cause::output_limit:
            return kStatusOutputLimit;
        case Cause::lost:
            return kStatusLost;
        case Cause::cancelled:
            return kSignalBase + cancelled_by;
        case Cause::finished:
        case Cause::not_started:
            break;
    }
    return std::visit([](const auto& ending) { return status_of(ending); }, facts.status);
}

bool is_own_status(const CommandFacts& facts) {
    return facts.cause == Cause::finished && std::holds_alternative<Exited>(facts.status);
}

}  // namespace sandpipe::cli
