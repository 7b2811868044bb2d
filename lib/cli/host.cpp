#include "host.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <memory>

namespace sandpipe::cli {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        case LogLevel::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

spdlog::level::level_enum spdlog_level(LogThreshold threshold) {
    switch (threshold) {
        case LogThreshold::debug:
            return spdlog::level::debug;
        case LogThreshold::info:
            return spdlog::level::info;
        case LogThreshold::warning:
            return spdlog::level::warn;
        case LogThreshold::error:
            return spdlog::level::err;
        case LogThreshold::off:
            return spdlog::level::off;
    }
    return spdlog::level::off;
}

RuntimeOptions runtime_options(LogThreshold threshold) {
    RuntimeOptions options;
    if (threshold == LogThreshold::off) return options;
    auto logger =
        std::make_shared<spdlog::logger>("sandpipe", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_level(spdlog_level(threshold));
    options.logger = [logger](const LogRecord& record) {
        logger->log(spdlog_level(record.level), "command {}: {}", record.command_id, record.text);
    };
    return options;
}

}  // namespace

Host::Host(LogThreshold log)
    : interrupts_(context_), runtime_(background_.get_executor(), runtime_options(log)) {}

Ending Host::drive(awaitable<Ending> work) {
    Ending ending;
    std::exception_ptr failure;
    asio::cancellation_signal cancel;
    const InterruptAction action(interrupts_, [&cancel] { cancel.emit(asio::cancellation_type::terminal); });
    const auto done = [&](std::exception_ptr error, Ending result) {
        failure = error;
        ending = result;
        interrupts_.close();
    };
    asio::co_spawn(context_, interrupts_.watch(),
                   asio::detached);  // `done` ends it, and run() returns after both
    asio::co_spawn(context_, std::move(work), asio::bind_cancellation_slot(cancel.slot(), done));
    context_.run();
    if (failure) std::rethrow_exception(failure);
    return ending;
}

void Host::close() {
    std::exception_ptr failure;
    asio::co_spawn(context_, runtime_.close(), [&failure](std::exception_ptr error) { failure = error; });
    context_.restart();
    context_.run();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace sandpipe::cli
