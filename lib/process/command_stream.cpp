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

detail::CommandCore& CommandStream::core() const {
    if (!core_)
        throw Error(Errc::sandbox_not_initialized,
                    "the CommandStream is empty: it was moved from, or never assigned");
    return *core_;
}

awaitable<std::optional<OutputEvent>> CommandStream::next() { return core().next(); }
awaitable<CommandResult> CommandStream::finish() { return core().finish(); }
void CommandStream::stop() { core().stop(); }
awaitable<bool> CommandStream::write(std::string data) { return core().write(std::move(data)); }

awaitable<void> CommandStream::close_input() {
    core().close_input();
    co_return;
}

bool CommandStream::started() const noexcept { return core_ && core_->started(); }
std::string_view CommandStream::marker() const noexcept {
    return core_ ? std::string_view(core_->marker()) : std::string_view();
}
std::uint64_t CommandStream::id() const noexcept { return core_ ? core_->id() : 0; }

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
