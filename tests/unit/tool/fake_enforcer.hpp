#pragma once

#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sandpipe::testing {

struct ReachedTheSandbox : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Notes what it is asked to run and runs nothing: a stream needs a process.
class FakeEnforcer final : public SandboxEnforcer {
  public:
    explicit FakeEnforcer(std::string shell_path = "/bin/sh") : shell_path_(std::move(shell_path)) {}

    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override { co_return invocation; }
    awaitable<CommandStream> run(BinaryInvocation invocation) override {
        runs.push_back(std::move(invocation));
        throw ReachedTheSandbox(shell_path_);
        co_return CommandStream();
    }
    [[nodiscard]] BinaryInvocation shell(std::string line) const override {
        return command(shell_path_).args("-c", std::move(line));
    }
    awaitable<std::shared_ptr<SandboxEnforcer>> narrow(SandboxPolicy policy) override {
        narrowed.push_back(std::move(policy));
        if (refuse_narrowing) throw Error(*refuse_narrowing, narrowing_fault);
        auto made = std::make_shared<FakeEnforcer>("/narrow/sh");
        made->all_warnings = {"a second link"};
        made->report = report;
        co_return made;
    }
    [[nodiscard]] const SandboxPolicy& policy() const override { return own_policy; }
    [[nodiscard]] const EnforcementReport& enforcement() const override { return report; }
    [[nodiscard]] const std::vector<std::string>& warnings() const override { return all_warnings; }
    awaitable<void> close() override { co_return; }

    std::vector<BinaryInvocation> runs;
    std::vector<SandboxPolicy> narrowed;
    std::optional<Errc> refuse_narrowing;
    std::string narrowing_fault = "no narrowing in /home/ann/app";
    SandboxPolicy own_policy;
    std::vector<std::string> all_warnings;
    EnforcementReport report;

  private:
    std::string shell_path_;
};

inline Gate answers(GateDecision decision, std::vector<ToolRequest>* asked = nullptr) {
    return [decision, asked](const ToolRequest& request) -> awaitable<GateDecision> {
        if (asked) asked->push_back(request);
        return [](GateDecision made) -> awaitable<GateDecision> { co_return made; }(decision);
    };
}

/// Runs `work` in a loop of its own; what it throws is thrown. `beside` gets the loop and what cancels the
/// work.
template <typename T>
T run_alone(awaitable<T> work,
            const std::function<void(asio::io_context&, asio::cancellation_signal&)>& beside = nullptr) {
    asio::io_context context;
    asio::cancellation_signal signal;
    std::exception_ptr failure;
    std::optional<T> result;
    asio::co_spawn(context, std::move(work),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr error, T made) {
                       failure = error;
                       if (!error) result.emplace(std::move(made));
                   }));
    if (beside) beside(context, signal);
    context.run();
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
}

}  // namespace sandpipe::testing
