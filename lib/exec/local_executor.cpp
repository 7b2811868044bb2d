#include <sandpipe/local_executor.hpp>

#include <sandpipe/async_exec.hpp>
#include <sandpipe/error.hpp>

#include <string>
#include <utility>

#include <asio/this_coro.hpp>

#include "process/command_core.hpp"

namespace sandpipe {
namespace {

void strip_newline(std::string& text) {
    if (!text.ends_with('\n')) return;
    text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
}

class LocalExecutor final : public BinaryExecutor {
  public:
    LocalExecutor(std::shared_ptr<detail::RuntimeCore> core, LocalExecutorOptions options)
        : core_(std::move(core)), options_(std::move(options)) {}

    // The coroutine has copies: it may begin and go on after this object has gone.
    awaitable<BinaryExecResult> exec(BinaryInvocation invocation) override {
        return run(core_, options_, std::move(invocation));
    }

    [[nodiscard]] asio::any_io_executor default_executor() const override { return core_->executor(); }
    void log(const LogRecord& record) const override {
        core_->log(record.level, record.command_id, std::string(record.text));
    }

  private:
    static awaitable<BinaryExecResult> run(std::shared_ptr<detail::RuntimeCore> core,
                                           LocalExecutorOptions options, BinaryInvocation invocation) {
        detail::CommandDefaults defaults;
        defaults.timeout = options.timeout;
        defaults.limit = options.limit;
        defaults.env = options.env;
        auto command = detail::CommandCore::make(std::move(core), std::move(invocation), defaults,
                                                 detail::CommandCore::Mode::settled);
        const auto cancelled = (co_await asio::this_coro::cancellation_state).cancelled();
        if (cancelled != asio::cancellation_type::none) co_return detail::cancelled_before_start();
        BinaryExecResult result = co_await command->run_to_end();
        if (options.strip_final_newline) {
            strip_newline(result.out);
            strip_newline(result.err);
        }
        co_return result;
    }

    const std::shared_ptr<detail::RuntimeCore> core_;
    const LocalExecutorOptions options_;
};

}  // namespace

BinaryExecResult detail::cancelled_before_start() {
    BinaryExecResult result;
    result.cause = Cause::cancelled;
    result.status = NotStarted{
        Stage::queue, std::make_error_code(std::errc::operation_canceled), {}, "cancelled before it was started"};
    return result;
}

std::shared_ptr<BinaryExecutor> local_executor(Runtime& runtime, LocalExecutorOptions options) {
    if (options.timeout <= options.timeout.zero())
        throw Error(Errc::invalid_sandbox_config, "LocalExecutorOptions::timeout is " +
                                                      std::to_string(options.timeout.count()) +
                                                      " ns; it must be positive, or kNoTimeout");
    static_cast<void>(options.env.resolve({}));  // throws for a name or value that no environment has
    return std::make_shared<LocalExecutor>(runtime.core(), std::move(options));
}

std::shared_ptr<BinaryExecutor> local_executor(Runtime& runtime) {
    return local_executor(runtime, LocalExecutorOptions{});
}

}  // namespace sandpipe
