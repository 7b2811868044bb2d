#pragma once

#include <sandpipe/command_stream.hpp>
#include <sandpipe/local_executor.hpp>
#include <sandpipe/runtime.hpp>

#include <gtest/gtest.h>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sandpipe::testing {

using namespace std::chrono_literals;

/// One line of /proc/PID/stat.
struct ProcessFacts {
    pid_t pid = 0;
    pid_t parent = 0;
    char state = '?';
};

[[nodiscard]] std::optional<ProcessFacts> process_facts(pid_t pid);
[[nodiscard]] std::vector<ProcessFacts> all_processes();
/// Exists and is no zombie. Pid 1 of a container may not reap, so a zombie counts as dead.
[[nodiscard]] bool is_alive(pid_t pid);
/// The helpers of `host`: they hold a pidfd of it, whoever their parent is by now.
[[nodiscard]] std::vector<pid_t> launchers_of(pid_t host);
/// Everything below `pid`.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t pid);
[[nodiscard]] std::vector<pid_t> zombies_of(pid_t parent);
[[nodiscard]] std::string command_line(pid_t pid);
[[nodiscard]] std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content, unsigned mode = 0644);

/// SANDPIPE_ROUNDS (default 1) times `count`: how often the tests of chance are repeated.
[[nodiscard]] int rounds(int count);
/// Polls until `done` or the limit; what it was in the end.
bool eventually(const std::function<bool()>& done, std::chrono::milliseconds limit = 5s);

/// What a process must have again when a test ends.
class HostState {
  public:
    [[nodiscard]] static HostState now();
    /// What differs, a sentence each; "" for nothing.
    [[nodiscard]] std::string difference_to(const HostState& before) const;

  private:
    std::vector<std::string> descriptors_;
    std::vector<std::string> children_;
    std::vector<std::string> signals_;
};

/// Gives each test a Runtime, and a directory of its own that is also HOME, by which its processes are known.
/// Fails the test when descriptors, child processes, helpers, commands or signal handlers are left over.
class ProcessFixture : public ::testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    [[nodiscard]] asio::io_context& io() { return *io_; }
    /// Made at the first use, or by `use`.
    [[nodiscard]] Runtime& runtime();
    void use(RuntimeOptions options);
    [[nodiscard]] std::shared_ptr<BinaryExecutor> executor();
    [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_; }

    /// Awaits the Runtime's close, and takes it away.
    void close_runtime();
    /// Takes it away as it is.
    void drop_runtime() { runtime_.reset(); }
    /// Destroys the context as it is; makes no other.
    void drop_context() { io_.reset(); }

    /// Drives `work` to its end.
    template <typename T>
    T run(awaitable<T> work, std::chrono::milliseconds limit = 30s);
    [[nodiscard]] BinaryExecResult exec(BinaryInvocation invocation) {
        return run(executor()->exec(std::move(invocation)));
    }
    /// What a command that runs beside the test left; empty until then.
    using ResultBox = std::shared_ptr<std::optional<BinaryExecResult>>;
    ResultBox spawn(BinaryInvocation invocation);
    [[nodiscard]] CommandStream start(BinaryInvocation invocation) {
        return std::move(*run(start_boxed(runtime(), std::move(invocation))));
    }
    /// co_spawn wants a default constructor, which a stream has not.
    static awaitable<std::unique_ptr<CommandStream>> start_boxed(Runtime& runtime,
                                                                 BinaryInvocation invocation) {
        co_return std::make_unique<CommandStream>(co_await start_command(runtime, std::move(invocation)));
    }
    /// Drives what is ready now.
    void drive();
    /// Drives the context until `done` or the limit.
    bool drive_until(const std::function<bool()>& done, std::chrono::milliseconds limit = 10s);

    /// Live processes of this test: helpers, commands, and what those left behind.
    [[nodiscard]] std::vector<pid_t> own_processes() const;
    /// Those of them that are no helpers.
    [[nodiscard]] std::vector<pid_t> own_commands() const;

  private:
    void expect_nothing_left();
    [[nodiscard]] std::vector<pid_t> commands_below(const std::vector<pid_t>& launchers) const;

    std::optional<HostState> before_;
    std::string home_before_;
    std::filesystem::path scratch_;
    std::unique_ptr<asio::io_context> io_;
    std::optional<Runtime> runtime_;
    std::shared_ptr<BinaryExecutor> executor_;
};

/// /bin/sh -c `line`
[[nodiscard]] BinaryInvocation sh(const std::string& line);
/// A program of tests/programs.
[[nodiscard]] std::string program(const std::string& name);

template <typename T>
T ProcessFixture::run(awaitable<T> work, std::chrono::milliseconds limit) {
    struct Outcome {
        bool done = false;
        std::exception_ptr error;
        std::conditional_t<std::is_void_v<T>, bool, std::optional<T>> value{};
    };
    auto outcome = std::make_shared<Outcome>();
    if constexpr (std::is_void_v<T>) {
        asio::co_spawn(io(), std::move(work), [outcome](std::exception_ptr error) {
            outcome->error = error;
            outcome->done = true;
        });
    } else {
        asio::co_spawn(io(), std::move(work), [outcome](std::exception_ptr error, T value) {
            outcome->error = error;
            if (!error) outcome->value.emplace(std::move(value));
            outcome->done = true;
        });
    }
    if (!drive_until([&] { return outcome->done; }, limit))
        throw std::runtime_error("the operation did not end within " + std::to_string(limit.count()) + " ms");
    if (outcome->error) std::rethrow_exception(outcome->error);
    if constexpr (!std::is_void_v<T>) return std::move(*outcome->value);
}

}  // namespace sandpipe::testing
