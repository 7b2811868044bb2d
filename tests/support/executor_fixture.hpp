#pragma once

#include <gtest/gtest.h>
#include <sandpipe/audit.hpp>
#include <sandpipe/binary_executor.hpp>
#include <sandpipe/runtime.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sandpipe::testing {

/// The argv that stands in an invocation.
[[nodiscard]] std::vector<std::string> argv_of(const BinaryInvocation& invocation);

/// Keeps audit events, whatever thread they come on.
class AuditNotes {
  public:
    [[nodiscard]] AuditSink sink();
    /// In their order.
    [[nodiscard]] std::vector<AuditEvent> events() const;
    [[nodiscard]] std::vector<std::string> kinds() const;

  private:
    mutable std::mutex mutex_;
    std::vector<AuditEvent> events_;
};

/// For tests of executors with a sandbox: a Runtime whose context runs on a thread of its own, so that the test may
/// block in programs that need it. Fails when descriptors or processes are left over.
class ExecutorTest : public ::testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    [[nodiscard]] Runtime& runtime() { return *runtime_; }
    [[nodiscard]] asio::io_context& context() { return *context_; }
    /// A directory of this test, which is every session's workspace.
    [[nodiscard]] const std::string& workspace() const { return workspace_; }
    /// Writes allowed below the workspace.
    [[nodiscard]] std::shared_ptr<SandboxEnforcer> open(SrtEnforcerOptions options = {});
    [[nodiscard]] std::string refusal(SrtEnforcerOptions options);
    /// The Runtime is closed and made anew: its snapshot of the environment too.
    void restart();
    void close_runtime();

    /// Awaits on the context's thread.
    template <typename T>
    T await(awaitable<T> work) {
        // co_spawn wants a default constructor.
        std::optional<T> value = get(asio::co_spawn(*context_, boxed(std::move(work)), asio::use_future));
        return std::move(*value);
    }
    void await(awaitable<void> work) { get(asio::co_spawn(*context_, std::move(work), asio::use_future)); }

  private:
    template <typename T>
    static awaitable<std::optional<T>> boxed(awaitable<T> work) {
        co_return std::optional<T>(co_await std::move(work));
    }
    template <typename T>
    static T get(std::future<T> result) {
        if (result.wait_for(std::chrono::seconds{90}) == std::future_status::ready) return result.get();
        std::fputs("an operation did not complete within 90 s\n", stderr);
        std::abort();
    }
    void start_context();

    std::string workspace_;
    std::size_t descriptors_ = 0;
    std::unique_ptr<asio::io_context> context_;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
    std::optional<Runtime> runtime_;
    std::thread thread_;
};

/// With one session that is there from the beginning.
class SessionTest : public ExecutorTest {
  protected:
    void SetUp() override;
    void TearDown() override;

    std::shared_ptr<SandboxEnforcer> sandbox_;
};

}  // namespace sandpipe::testing
