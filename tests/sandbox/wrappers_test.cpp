#include <gmock/gmock.h>

#include <sandpipe/local_executor.hpp>
#include <sandpipe/sandboxed_executor.hpp>
#include <sandpipe/shell.hpp>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <unistd.h>

#include "support/executor_fixture.hpp"
#include "support/run_program.hpp"
#include "support/spawning_executor.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Rewrites the plain struct: the words of another program stand before the command's.
class Prefixing : public BinarySandbox {
  public:
    explicit Prefixing(std::vector<std::string> words, std::shared_ptr<BinarySandbox> next = nullptr)
        : words_(std::move(words)), next_(std::move(next)) {}

    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        if (next_) invocation = co_await next_->wrap(std::move(invocation));
        InvocationFields& fields = invocation.fields();
        fields.args.insert(fields.args.begin(), fields.program);
        fields.args.insert(fields.args.begin(), words_.begin() + 1, words_.end());
        fields.program = words_.front();
        co_return invocation;
    }

  private:
    const std::vector<std::string> words_;
    const std::shared_ptr<BinarySandbox> next_;
};

/// Asks somebody far away first.
class Slow : public Prefixing {
  public:
    using Prefixing::Prefixing;
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        asio::steady_timer timer(co_await asio::this_coro::executor, 30ms);
        co_await timer.async_wait(asio::use_awaitable);
        co_return co_await Prefixing::wrap(std::move(invocation));
    }
};

/// Knows lines only.
class LineBased : public BinarySandbox {
  public:
    explicit LineBased(std::string shell, std::shared_ptr<BinarySandbox> next = nullptr)
        : shell_(std::move(shell)), next_(std::move(next)) {}

    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
        if (next_) invocation = co_await next_->wrap(std::move(invocation));
        const std::string line = "exec " + posix_quote(argv_of(invocation));
        BinaryInvocation wrapped = shell_invocation(shell_, line);
        co_return wrapped;
    }

  private:
    const std::string shell_;
    const std::shared_ptr<BinarySandbox> next_;
};

const std::vector<std::string> kOddWords{"a b", "",    "it's", "\"$HOME\"", "`id`", "a\nb", "~",        "*",
                                         "=ls", "A=1", "-",    "\\",        "!x",   "%1",   "\xC3\xA9", "\xff"};

class Wrappers : public ExecutorTest {
  protected:
    BinaryExecResult run(std::shared_ptr<BinaryExecutor> inner, std::shared_ptr<BinarySandbox> sandbox,
                         BinaryInvocation what) {
        SandboxedExecutorOptions options;
        options.inner = std::move(inner);
        options.sandbox = std::move(sandbox);
        return await(sandboxed_executor(options)->exec(std::move(what)));
    }
    static BinaryInvocation print_words() {
        return command("/usr/bin/printf").args("<%s>").arg_list(kOddWords);
    }
    static std::string printed_words() {
        std::string text;
        for (const std::string& word : kOddWords) text += "<" + word + ">";
        return text;
    }
};

TEST_F(Wrappers, RewriteThePlainStruct) {
    const auto env = std::make_shared<Prefixing>(std::vector<std::string>{"/usr/bin/env", "-u", "HOME", "WRAPPED=yes"});
    const auto result = run(local_executor(runtime()), env, command("sh").args("-c", "echo $WRAPPED ${HOME:-none}"));
    EXPECT_EQ(result.out, "yes none");
}

TEST_F(Wrappers, MayTakeTheirTime) {
    const auto slow = std::make_shared<Slow>(std::vector<std::string>{"/usr/bin/env", "WRAPPED=later"});
    EXPECT_EQ(run(local_executor(runtime()), slow, command("sh").args("-c", "echo $WRAPPED")).out, "later");
    const auto late = run(local_executor(runtime()), slow, command("true").start_timeout(1ms));
    EXPECT_EQ(std::get<NotStarted>(late.status).stage, Stage::wrap);
}

TEST_F(Wrappers, ByLinesKeepEveryWord) {
    for (const char* shell : {"/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/bin/ksh"}) {
        if (::access(shell, X_OK) != 0) {
            std::printf("skipped: no %s on this machine\n", shell);
            continue;
        }
        const auto result = run(local_executor(runtime()), std::make_shared<LineBased>(shell), print_words());
        EXPECT_EQ(result.out, printed_words()) << shell << ": " << result.err;
    }
}

TEST_F(Wrappers, AroundASession) {
    // Through the relay: what is around the session runs outside of it, as it is written.
    const auto session = open();
    for (const auto& inner :
         {std::shared_ptr<BinaryExecutor>(std::make_shared<SpawningExecutor>()), local_executor(runtime())}) {
        const auto line = std::make_shared<LineBased>("/bin/sh", session);
        const auto words = run(inner, line, print_words());
        EXPECT_EQ(words.out, printed_words()) << words.err;
        const auto contained = run(inner, line, command("touch").args("/etc/sandpipe-wrapper"));
        EXPECT_THAT(contained.err, HasSubstr("Read-only file system"));
        const auto nice = std::make_shared<Prefixing>(std::vector<std::string>{"/usr/bin/nice", "-n", "3"}, session);
        const auto still = run(inner, nice, command("touch").args("/etc/sandpipe-wrapper"));
        EXPECT_THAT(still.err, HasSubstr("Read-only file system"));
    }
    // With the session at hand the words go into it.
    const auto nice = std::make_shared<Prefixing>(std::vector<std::string>{"/usr/bin/nice", "-n", "3"}, session);
    EXPECT_EQ(run(local_executor(runtime()), nice, command("nice")).out, "3");
}

TEST_F(Wrappers, BeforeASession) {
    const auto session = open();
    class Before : public BinarySandbox {
      public:
        explicit Before(std::shared_ptr<BinarySandbox> session) : session_(std::move(session)) {}
        awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override {
            invocation.fields().args.insert(invocation.fields().args.begin(), invocation.fields().program);
            invocation.fields().program = "/usr/bin/env";
            co_return co_await session_->wrap(std::move(invocation));
        }

      private:
        const std::shared_ptr<BinarySandbox> session_;
    };
    const auto result = run(local_executor(runtime()), std::make_shared<Before>(session),
                            command("sh").args("-c", "echo x > /etc/x; echo in"));
    EXPECT_EQ(result.out, "in");
    EXPECT_THAT(result.err, HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace sandpipe::testing
