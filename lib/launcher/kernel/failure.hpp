#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// Empty: the step succeeded.
using Outcome = std::optional<wire::Failure>;

[[nodiscard]] inline Outcome fail(Stage stage, int error, std::string path = {}) {
    return wire::Failure{stage, error, std::move(path)};
}

}  // namespace sandpipe::launcher
