#include "start_failure.hpp"

namespace sandpipe::detail {

std::string describe(const NotStarted& start) {
    std::string text(to_string(start.stage));
    if (!start.path.empty()) text += " " + start.path;
    if (start.error) text += ": " + start.error.message();
    if (!start.hint.empty()) text += "; " + start.hint;
    return text;
}

}  // namespace sandpipe::detail
