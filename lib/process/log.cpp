#include "log.hpp"

#include <sandpipe/binary_executor.hpp>

#include <spdlog/spdlog.h>

#include "core/escaped.hpp"

namespace sandpipe::detail {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug: return spdlog::level::debug;
        case LogLevel::info: return spdlog::level::info;
        case LogLevel::warning: return spdlog::level::warn;
        case LogLevel::error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

}  // namespace

void log_to_spdlog(LogLevel level, std::uint64_t command_id, std::string_view text) {
    const auto logger = spdlog::get("sandpipe");
    if (!logger || !logger->should_log(spdlog_level(level))) return;
    if (command_id == 0)
        logger->log(spdlog_level(level), "{}", escaped(text));
    else
        logger->log(spdlog_level(level), "command {}: {}", command_id, escaped(text));
}

}  // namespace sandpipe::detail

namespace sandpipe {

void BinaryExecutor::log(const LogRecord& record) const {
    detail::log_to_spdlog(record.level, record.command_id, record.text);
}

}  // namespace sandpipe
