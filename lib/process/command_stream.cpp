#include <sandpipe/command_stream.hpp>
#include <sandpipe/error.hpp>

#include <utility>

#include "process/command_core.hpp"

namespace sandpipe {

CommandStream::CommandStream(std::shared_ptr<detail::CommandCore> core) noexcept : core_(std::move(core)) {}
CommandStream::CommandStream(CommandStream&&) noexcept = default;

CommandStream& CommandStream::operator=(CommandStream&& other) noexcept {
    if (this == &other) return *this;
    if (core_) core_->abandon();
    core_ = std::move(other.core_);
    return *this;
}

CommandStream::~CommandStream() {
    if (core_) core_->abandon();
}

awaitable<std::optional<OutputEvent>> CommandStream::next() { return core_->next(); }
awaitable<CommandResult> CommandStream::finish() { return core_->finish(); }
void CommandStream::stop() { core_->stop(); }
awaitable<bool> CommandStream::write(std::string data) { return core_->write(std::move(data)); }

awaitable<void> CommandStream::close_input() {
    core_->close_input();
    co_return;
}

bool CommandStream::started() const noexcept { return core_->started(); }
std::string_view CommandStream::marker() const noexcept { return core_->marker(); }
std::uint64_t CommandStream::id() const noexcept { return core_->id(); }

namespace detail {

awaitable<CommandStream> start_stream(std::shared_ptr<RuntimeCore> runtime, BinaryInvocation invocation) {
    const CommandDefaults defaults;
    auto core =
        CommandCore::make(std::move(runtime), std::move(invocation), defaults, CommandCore::Mode::streamed);
    co_await core->start();
    co_return CommandStream(std::move(core));
}

}  // namespace detail

awaitable<CommandStream> start_command(Runtime& runtime, BinaryInvocation invocation) {
    return detail::start_stream(runtime.core(), std::move(invocation));
}

}  // namespace sandpipe
