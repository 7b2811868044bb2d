#pragma once

#include <sandpipe/runtime.hpp>

#include <cstdint>
#include <string_view>

namespace sandpipe::detail {

/// To the spdlog logger that the application has registered as "sandpipe"; nowhere if there is none. On one line:
/// what a command named is escaped.
void log_to_spdlog(LogLevel level, std::uint64_t command_id, std::string_view text);

}  // namespace sandpipe::detail
