#include <sandpipe/error.hpp>
#include <sandpipe/sandboxed_executor.hpp>

#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "exec/interpreters.hpp"
#include "exec/resolved_program.hpp"
#include "exec/wrap_step.hpp"
#include "process/aside.hpp"
#include "process/audit_trail.hpp"
#include "process/environment_snapshot.hpp"
#include "process/shortage.hpp"
#include "process/start_request.hpp"
#include "process/thrown_text.hpp"

namespace sandpipe {
namespace {

using detail::AuditBook;
using detail::AuditTrail;
using Clock = std::chrono::steady_clock;

/// Weak: an executor may keep invocations, and they lead here.
std::function<void(const LogRecord&)> log_of(const std::weak_ptr<BinaryExecutor>& executor) {
    return [executor](const LogRecord& record) {
        if (const auto alive = executor.lock()) alive->log(record);
    };
}

/// What the executor and its commands share.
struct Parts {
    explicit Parts(SandboxedExecutorOptions given)
        : options(std::move(given)),
          book(std::make_shared<AuditBook>(options.on_sandbox, log_of(options.inner))) {}

    const SandboxedExecutorOptions options;
    const std::shared_ptr<AuditBook> book;
    const std::vector<std::string> environment = detail::snapshot_of_environment();
};
using SharedParts = std::shared_ptr<const Parts>;

/// The trail of one exec: nothing is told on its executor once that has ended.
class AuditScope {
  public:
    AuditScope(const SharedParts& parts, const asio::any_io_executor& executor, InvocationFields& fields)
        : trail_(std::make_shared<AuditTrail>(parts->book, executor, fields.audit)) {
        fields.audit = trail_;
    }
    AuditScope(const AuditScope&) = delete;
    AuditScope& operator=(const AuditScope&) = delete;
    ~AuditScope() { trail_->detach(); }

    AuditTrail* operator->() const noexcept { return trail_.get(); }
    [[nodiscard]] const std::shared_ptr<AuditTrail>& trail() const noexcept { return trail_; }

  private:
    const std::shared_ptr<AuditTrail> trail_;
};

BinaryExecResult not_started(NotStarted failure, Cause cause) {
    BinaryExecResult result;
    result.cause = cause;
    result.status = std::move(failure);
    return result;
}

BinaryExecResult cancelled(const std::string& program) {
    return not_started({Stage::wrap, std::make_error_code(std::errc::operation_canceled), program,
                        "cancelled before it was started"},
                       Cause::cancelled);
}

constexpr std::string_view kLateWrap = "the sandbox had not wrapped it within start_timeout";
constexpr std::string_view kLateLook = "it had not been looked at within start_timeout: a file system hangs";

BinaryExecResult too_late(const std::string& program, std::string_view why = kLateWrap) {
    return not_started({Stage::wrap, std::make_error_code(std::errc::timed_out), program, std::string(why)},
                       Cause::not_started);
}

/// The code where it is an error of the system or of this library, else that of a sandbox that failed.
std::error_code code_of(const std::exception& error) {
    const auto* with_code = dynamic_cast<const std::system_error*>(&error);
    return with_code ? with_code->code() : make_error_code(Errc::sandbox_failed);
}

bool is_known_interpreter(const Bypass& bypass) {
    return is_interpreter(std::filesystem::path(bypass.program).filename().native()) ||
           is_interpreter(std::filesystem::path(bypass.resolved).filename().native());
}

std::vector<std::string> names_of_program(const InvocationFields& fields, const std::vector<std::string>& snapshot) {
    const std::vector<std::string> env = fields.env ? fields.env->resolve(snapshot) : snapshot;
    return detail::candidates(fields.program, env, snapshot);
}

/// Told before the command starts; what the sink throws passes.
void tell_bypass(const BinaryExecutor& inner, const AuditTrail& trail, const InvocationFields& fields,
                 std::string resolved) {
    Bypass bypass;
    bypass.program = fields.program;
    bypass.args = fields.args;
    bypass.resolved = std::move(resolved);
    bypass.interpreter = is_known_interpreter(bypass);
    const std::string text = "bypass: " + fields.program + " runs outside of the sandbox";
    inner.log(LogRecord{LogLevel::warning, trail.id(), text});
    trail.book().insist(trail.event(std::move(bypass)));
}

/// What one of the host's own functions says; a failure if it throws.
template <typename F>
std::optional<NotStarted> ask(const std::string& name, const std::string& program, F function) {
    try {
        function();
        return {};
    } catch (...) {
        return NotStarted{Stage::wrap, make_error_code(Errc::sandbox_refused), program,
                          name + " threw: " + detail::thrown_text()};
    }
}

enum class Way { sandboxed, bypassed };

using Choice = std::variant<Way, BinaryExecResult>;

/// Which way the command goes; the result of one that goes none, if that cannot be said, or not be told.
awaitable<Choice> choose_way(SharedParts parts, std::shared_ptr<AuditTrail> trail, const InvocationFields& fields) {
    if (!parts->options.bypass) co_return Way::sandboxed;
    bool lets_out = false;
    auto failure = ask("bypass", fields.program, [&] { lets_out = parts->options.bypass(fields.program); });
    if (failure) co_return not_started(std::move(*failure), Cause::not_started);
    if (!lets_out) co_return Way::sandboxed;
    asio::any_io_executor executor = co_await asio::this_coro::executor;
    std::function<std::string()> look = [names = names_of_program(fields, parts->environment), cwd = fields.cwd] {
        return resolved_program(names, cwd);
    };
    std::string resolved;
    try {
        resolved = co_await detail::call_aside(std::move(executor), std::move(look), fields.start_timeout,
                                               std::string(kLateLook));
    } catch (const detail::Shortage& shortage) {
        const std::error_code code(shortage.error(), std::generic_category());
        co_return not_started({Stage::resources, code, fields.program, shortage.text()}, Cause::not_started);
    } catch (const Error&) {
        co_return too_late(fields.program, kLateLook);
    } catch (const std::system_error& error) {
        if (error.code() != asio::error::operation_aborted) throw;
        co_return cancelled(fields.program);
    }
    failure = ask("on_sandbox, told of a bypass,", fields.program,
                  [&] { tell_bypass(*parts->options.inner, *trail, fields, std::move(resolved)); });
    if (failure) co_return not_started(std::move(*failure), Cause::not_started);
    co_return Way::bypassed;
}

void tell_failed_wrap(AuditTrail& trail, const std::string& program, const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        trail.record(StartFailed{program, {Stage::wrap, code_of(error), program, error.what()}});
    }
}

awaitable<BinaryExecResult> run_wrapped(SharedParts parts, std::shared_ptr<AuditTrail> trail,
                                        BinaryInvocation invocation) {
    const std::string program = invocation.fields().program;
    const std::chrono::nanoseconds limit = invocation.fields().start_timeout;
    const Clock::time_point begin = Clock::now();
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    WrapOutcome outcome = co_await wrap_within(executor, parts->options.sandbox, std::move(invocation), limit);
    if (outcome.cancelled) co_return cancelled(program);
    if (outcome.timed_out) co_return too_late(program);
    if (outcome.error) {
        tell_failed_wrap(*trail, program, outcome.error);
        std::rethrow_exception(outcome.error);
    }
    // These two are the caller's, also where a wrapper has made a new invocation.
    InvocationFields& fields = outcome.wrapped->fields();
    fields.audit = std::move(trail);
    fields.start_timeout = limit == kNoTimeout ? limit : limit - (Clock::now() - begin);
    if (fields.start_timeout <= fields.start_timeout.zero()) co_return too_late(program);
    co_return co_await parts->options.inner->exec(std::move(*outcome.wrapped));
}

awaitable<BinaryExecResult> run_audited(SharedParts parts, std::shared_ptr<AuditTrail> trail,
                                        BinaryInvocation invocation) {
    Choice choice = co_await choose_way(parts, trail, invocation.fields());
    if (auto* result = std::get_if<BinaryExecResult>(&choice)) co_return std::move(*result);
    if (std::get<Way>(choice) == Way::bypassed) co_return co_await parts->options.inner->exec(std::move(invocation));
    co_return co_await run_wrapped(std::move(parts), std::move(trail), std::move(invocation));
}

// The coroutine has copies: it may begin and go on after the executor has gone.
awaitable<BinaryExecResult> run(SharedParts parts, BinaryInvocation invocation) {
    detail::check_invocation(invocation.fields());
    const std::string program = invocation.fields().program;
    const auto before = (co_await asio::this_coro::cancellation_state).cancelled();
    if (before != asio::cancellation_type::none) co_return cancelled(program);
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    AuditScope trail(parts, executor, invocation.fields());
    BinaryExecResult result;
    std::exception_ptr thrown;
    try {
        result = co_await run_audited(std::move(parts), trail.trail(), std::move(invocation));
        // An inner executor of this library has told its own failures.
        const auto* failure = std::get_if<NotStarted>(&result.status);
        if (failure && !trail->told_failed_start()) trail->record(StartFailed{program, *failure});
    } catch (...) {
        thrown = std::current_exception();
    }
    if (const auto strand = trail->strand()) {
        // The last events are told first, also when the command was cancelled, which every co_await would answer.
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::post(*strand, asio::use_awaitable);
        co_await asio::this_coro::throw_if_cancelled(throws);
    }
    if (thrown) std::rethrow_exception(thrown);
    co_return result;
}

class WrappingExecutor final : public SandboxedExecutor {
  public:
    explicit WrappingExecutor(SandboxedExecutorOptions options)
        : parts_(std::make_shared<const Parts>(std::move(options))) {}

    awaitable<BinaryExecResult> exec(BinaryInvocation invocation) override {
        return run(parts_, std::move(invocation));
    }
    [[nodiscard]] PathDomain path_domain() const override {
        return parts_->options.sandbox->path_domain(parts_->options.inner->path_domain());
    }
    [[nodiscard]] asio::any_io_executor default_executor() const override {
        return parts_->options.inner->default_executor();
    }
    void log(const LogRecord& record) const override { parts_->options.inner->log(record); }
    [[nodiscard]] std::uint64_t sink_failures() const noexcept override { return parts_->book->failures(); }

  private:
    const SharedParts parts_;
};

}  // namespace

std::shared_ptr<SandboxedExecutor> sandboxed_executor(SandboxedExecutorOptions options) {
    if (!options.inner || !options.sandbox)
        throw Error(Errc::invalid_sandbox_config, std::string("sandboxed_executor: ") +
                                                      (options.inner ? "sandbox" : "inner") +
                                                      " is missing; it needs an executor and a sandbox");
    return std::make_shared<WrappingExecutor>(std::move(options));
}

}  // namespace sandpipe
