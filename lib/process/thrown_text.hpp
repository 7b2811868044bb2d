#pragma once

#include <exception>
#include <string>

namespace sandpipe::detail {

/// What the exception that is being handled says. A callback of the user's may throw anything.
[[nodiscard]] inline std::string thrown_text() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "something that is no std::exception";
    }
}

}  // namespace sandpipe::detail
