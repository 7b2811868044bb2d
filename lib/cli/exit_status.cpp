#include "exit_status.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace sandpipe::cli {
namespace {

constexpr int kSignalBase = 128;

// The program is there and the kernel will not execute it.
bool is_not_executable(const std::error_code& error) {
    constexpr std::array kErrors{EACCES, EPERM, ENOEXEC, E2BIG, EISDIR, ETXTBSY, ELIBBAD, EINVAL};
    return std::find(kErrors.begin(), kErrors.end(), error.value()) != kErrors.end();
}

int status_of(const NotStarted& start) {
    switch (start.stage) {
        case Stage::program:
        case Stage::interpreter:
            return is_not_executable(start.error) ? kStatusNotExecutable : kStatusNotFound;
        case Stage::permission:
        case Stage::arguments:
            return kStatusNotExecutable;
        default:
            return kStatusRefused;
    }
}

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
