#pragma once

#include <sandpipe/end_status.hpp>

#include <string>

namespace sandpipe::detail {

/// "program /x: No such file or directory; <hint>"
[[nodiscard]] std::string describe(const NotStarted& start);

}  // namespace sandpipe::detail
