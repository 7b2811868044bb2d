#include "start_failure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace sandpipe::detail {
namespace {

bool is_not_executable(const std::error_code& error) {
    constexpr std::array kErrors{EACCES, EPERM, ENOEXEC, E2BIG, EISDIR, ETXTBSY, ELIBBAD, EINVAL};
    return std::find(kErrors.begin(), kErrors.end(), error.value()) != kErrors.end();
}

}  // namespace

int exit_status_of(const NotStarted& start) {
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

std::string describe(const NotStarted& start) {
    std::string text(to_string(start.stage));
    if (!start.path.empty()) text += " " + start.path;
    if (start.error) text += ": " + start.error.message();
    if (!start.hint.empty()) text += "; " + start.hint;
    return text;
}

}  // namespace sandpipe::detail
