#pragma once

#include <sandpipe/binary_executor.hpp>

#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sandpipe {

/// A BinaryExecutor that runs nothing, for the tests of code that takes one: it answers from a script and keeps what
/// it was asked. Header-only and thread-safe.
///
///     auto fake = std::make_shared<FakeExecutor>();
///     fake->then_exit(0, "v1.2.3").then_signal(SIGKILL);
///     ... code under test ...
///     EXPECT_EQ(fake->calls().at(0).program, "git");
class FakeExecutor final : public BinaryExecutor {
  public:
    using Answer = std::function<BinaryExecResult(const InvocationFields&)>;

    /// The next call gets this; calls past the end of the script throw std::logic_error naming the program.
    FakeExecutor& then(Answer answer) {
        const std::lock_guard<std::mutex> lock(mutex_);
        script_.push_back(std::move(answer));
        return *this;
    }
    FakeExecutor& then_exit(int code, std::string out = {}, std::string err = {}) {
        return then([code, out = std::move(out), err = std::move(err)](const InvocationFields&) {
            BinaryExecResult result = finished(Exited{code}, Cause::finished);
            result.exit_code = code;
            result.failed = code != 0;
            result.out = out;
            result.err = err;
            result.out_facts = {out.size(), out.size(), false};
            result.err_facts = {err.size(), err.size(), false};
            return result;
        });
    }
    FakeExecutor& then_signal(int signal, Cause cause = Cause::finished) {
        return then([=](const InvocationFields&) { return finished(Signaled{signal, false}, cause); });
    }
    FakeExecutor& then_not_started(NotStarted failure) {
        return then([failure = std::move(failure)](const InvocationFields&) {
            return finished(failure, Cause::not_started);
        });
    }

    /// What was asked so far, in order.
    [[nodiscard]] std::vector<InvocationFields> calls() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return calls_;
    }

    awaitable<BinaryExecResult> exec(BinaryInvocation invocation) override {
        co_return take(invocation.fields().program, invocation)(invocation.fields());
    }

    [[nodiscard]] PathDomain path_domain() const override { return {"fake"}; }

  private:
    static BinaryExecResult finished(EndStatus status, Cause cause) {
        BinaryExecResult result;
        result.status = std::move(status);
        result.cause = cause;
        return result;
    }

    Answer take(const std::string& program, const BinaryInvocation& invocation) {
        const std::lock_guard<std::mutex> lock(mutex_);
        calls_.push_back(invocation.fields());
        if (script_.empty()) throw std::logic_error("FakeExecutor: no answer is left for \"" + program + "\"");
        Answer answer = std::move(script_.front());
        script_.pop_front();
        return answer;
    }

    mutable std::mutex mutex_;
    std::deque<Answer> script_;
    std::vector<InvocationFields> calls_;
};

}  // namespace sandpipe
