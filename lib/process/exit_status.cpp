#include "exit_status.hpp"

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <variant>

namespace sandpipe::detail {
namespace {

constexpr int kSignalBase = 128;

bool is_one_of(const std::error_code& error, std::initializer_list<int> numbers) {
    return std::find(numbers.begin(), numbers.end(), error.value()) != numbers.end();
}

int status_of_program(const std::error_code& error) {
    if (is_one_of(error, {EACCES, EPERM, ENOEXEC, E2BIG, EISDIR, ETXTBSY, ELIBBAD, EINVAL}))
        return kStatusNotExecutable;
    // Whether it could be executed is not known: its start hung, or was ended.
    return is_one_of(error, {ETIMEDOUT, ECANCELED}) ? kStatusRefused : kStatusNotFound;
}

int status_of(const NotStarted& start) {
    switch (start.stage) {
        case Stage::program:
        case Stage::interpreter:
            return status_of_program(start.error);
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

}  // namespace sandpipe::detail
