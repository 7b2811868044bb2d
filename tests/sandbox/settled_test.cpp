#include <sandpipe/local_executor.hpp>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>

#include "support/executor_fixture.hpp"
#include "support/process_tree.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

/// All that must not depend on where a command runs.
std::string summary(const BinaryExecResult& result) {
    std::string text = std::string(to_string(result.cause)) + (result.failed ? ", failed" : ", succeeded") +
                       (result.forced ? ", forced" : "") + (result.abandoned ? ", abandoned" : "") + ", code " +
                       std::to_string(result.exit_code);
    if (const auto* signaled = std::get_if<Signaled>(&result.status)) text += ", " + signal_name(signaled->signal);
    if (const auto* failure = std::get_if<NotStarted>(&result.status))
        text += ", not started: " + std::string(to_string(failure->stage)) + ", " + failure->error.message() + ", " +
                failure->path;
    for (const StreamFacts& facts : {result.out_facts, result.err_facts})
        text += ", " + std::to_string(facts.kept) + (facts.truncated ? " of more" : "");
    return text + "\nout: " + result.out + "\nerr: " + result.err;
}

BinaryInvocation sh(std::string line) { return command("/bin/sh").args("-c", std::move(line)); }

StopPolicy short_grace() {
    StopPolicy policy;
    policy.grace = 200ms;
    return policy;
}

/// Commands that are given to the same executor, wrapped and as they are.
class Settled : public SessionTest {
  protected:
    BinaryExecResult exec(BinaryInvocation invocation) {
        const auto executor = local_executor(runtime());
        return await(executor->exec(std::move(invocation)));
    }
    BinaryExecResult contained(BinaryInvocation invocation) {
        return exec(await(sandbox_->wrap(std::move(invocation))));
    }

    /// The same results, of which `expected` is a part.
    void expect_same(const std::string& expected, const BinaryInvocation& invocation) {
        const std::string outside = summary(exec(invocation));
        EXPECT_THAT(outside, ::testing::HasSubstr(expected));
        EXPECT_EQ(summary(contained(invocation)), outside);
    }

    [[nodiscard]] std::string at(const std::string& name) const { return workspace() + "/" + name; }
    std::string make_file(const std::string& name, const std::string& content, mode_t mode) {
        std::ofstream(at(name)) << content;
        ::chmod(at(name).c_str(), mode);
        return at(name);
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream file(at(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

TEST_F(Settled, EndsAreTheSame) {
    expect_same("finished, succeeded, code 0, 4, 4\nout: out\nerr: err", sh("echo out; echo err >&2"));
    expect_same("finished, failed, code 7", sh("exit 7"));
    expect_same("finished, failed, code -1, SIGSEGV", sh("ulimit -c 0; kill -SEGV $$"));
    expect_same("finished, failed, code -1, SIGKILL", sh("echo before; kill -KILL $$"));
    expect_same("code 3, 4, 0\nout: out", sh("echo out; exec >&- 2>&-; sleep .05; exit 3"));
    expect_same("out: 141 0", command("/bin/bash").args("-c", "yes | head -n 1 >/dev/null; echo ${PIPESTATUS[@]}"));
    expect_same("out: o1\ne1\no2\ne2", sh("for i in 1 2; do echo o$i; echo e$i >&2; done").order(Order::merged));
    expect_same("out: 0 1 2 3", sh("cd /proc/self/fd; echo *"));
}

TEST_F(Settled, StopsAreTheSame) {
    const std::string loop = "while :; do :; done";
    expect_same("timed_out, failed, code 0", sh("trap 'exit 0' TERM; " + loop).timeout(600ms));
    expect_same("timed_out, failed, code 1", sh("trap 'exit 1' TERM; echo up; " + loop).timeout(600ms));
    expect_same("timed_out, failed, code -1, SIGTERM, 3, 2\nout: up\nerr: e",
                sh("echo up; echo e >&2; exec sleep 60").timeout(600ms));
    expect_same("timed_out, failed, forced, code -1, SIGKILL",
                sh("trap '' TERM; " + loop).timeout(600ms).stop(short_grace()));
    expect_same("timed_out, failed, code -1, SIGTERM", sh("kill -STOP $$").timeout(600ms));
    expect_same("timed_out, failed, code 5", sh("trap 'exit 5' TERM; kill -STOP $$; exit 6").timeout(600ms));
    expect_same("timed_out",
                command("sleep").args("60").input(Input::bytes(std::string(1 << 20, 'x'))).timeout(600ms));
    expect_same("output_limit, failed, code -1, SIGTERM", sh("yes").limit(OutputLimit{10, OnOverflow::stop}));
    expect_same("output_limit, failed, code 0",
                sh("trap 'exit 0' TERM; while :; do echo y; done").limit(OutputLimit{10, OnOverflow::stop}));
}

TEST_F(Settled, LimitsAreTheSame) {
    const BinaryInvocation numbers = sh("i=0; while [ $i -lt 100 ]; do echo $i; i=$((i+1)); done");
    BinaryInvocation head = numbers;
    const BinaryExecResult stopped = contained(head.limit(OutputLimit{7, OnOverflow::stop}));
    EXPECT_EQ(stopped.out_facts.kept, 7U);
    EXPECT_EQ(stopped.out.substr(0, 6), "0\n1\n2\n");
    BinaryInvocation both = numbers;
    expect_same("finished, succeeded", both.limit(OutputLimit{20, OnOverflow::keep_head_and_tail}));
}

TEST_F(Settled, InputsAreTheSame) {
    std::string megabyte(1 << 20, '\0');
    for (std::size_t i = 0; i < megabyte.size(); ++i) megabyte[i] = static_cast<char>(i * 31 % 251);
    const BinaryExecResult whole = contained(command("cat").input(Input::bytes(megabyte)));
    EXPECT_TRUE(whole.out == megabyte) << whole.out.size() << " bytes came back";
    expect_same("finished, succeeded, code 0, 3, 0\nout: xxx",
                command("head").args("-c", "3").input(Input::bytes(std::string(1 << 20, 'x'))));
    expect_same("finished, succeeded, code 0, 0", command("true").input(Input::bytes(std::string(1 << 20, 'x'))));
    expect_same("finished, succeeded, code 0, 0", command("cat"));
    expect_same("finished, succeeded, code 0, 0", command("cat").input(Input::bytes("")));
    const std::string file = make_file("in", "from a file", 0644);
    expect_same("out: from a file", command("cat").input(Input::file(file)));
    expect_same("out: piped", sh("cat /dev/stdin; echo >/dev/stderr").input(Input::bytes("piped")));
}

TEST_F(Settled, OutputFilesAreTheSame) {
    for (const bool inside : {false, true}) {
        const auto write = [&](BinaryInvocation invocation) {
            return inside ? contained(std::move(invocation)) : exec(std::move(invocation));
        };
        const std::string file = make_file("out", "123456\n", 0644);
        EXPECT_EQ(write(command("echo").args("123").out(Output::file(file, FileMode::truncate))).out, "");
        EXPECT_EQ(content("out"), "123\n");
        (void)write(command("echo").args("4").out(Output::file(file, FileMode::append)));
        EXPECT_EQ(content("out"), "123\n4\n");
        (void)write(sh("echo o; echo e >&2").out(Output::file(file, FileMode::truncate)).order(Order::merged));
        EXPECT_EQ(content("out"), "o\ne\n");
        (void)write(sh("echo o; echo e >&2").out(Output::discard()).err(Output::file(file, FileMode::truncate)));
        EXPECT_EQ(content("out"), "e\n");
    }
}

TEST_F(Settled, FailedStartsAreTheSame) {
    const std::string not_started = "not_started, failed, code -1, not started: ";
    expect_same(not_started + "program, No such file", command("/no/such/program"));
    expect_same(not_started + "program, No such file", command("no-such-program-anywhere"));
    expect_same(not_started + "program, Permission denied", command(workspace()));
    expect_same(not_started + "interpreter, No such file", command(make_file("a", "#!/no/such/interp\n", 0755)));
    expect_same(not_started + "program, Exec format error", command(make_file("b", "echo hi\n", 0755)));
    expect_same(not_started + "permission, Permission denied", command(make_file("c", "#!/bin/sh\n", 0644)));
    expect_same(not_started + "cwd, No such file", command("true").cwd(at("missing")));
    expect_same(not_started + "cwd, Not a directory", command("true").cwd(at("c")));
    expect_same(not_started + "arguments, Argument list too long", command("true").args(std::string(131'072, 'x')));
    expect_same(not_started + "input, No such file", command("cat").input(Input::file(at("missing"))));
    expect_same(not_started + "output, Is a directory",
                command("true").out(Output::file(workspace(), FileMode::truncate)));
}

TEST_F(Settled, WhoHoldsThePipesDoesNotKeepTheResult) {
    const std::string token = unique_seconds();
    const BinaryExecResult result = contained(sh("setsid sleep " + token + " & echo started; exit 4"));
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_EQ(result.out, "started");
    EXPECT_FALSE(result.pipe_held_open) << "inside, nothing outlives its command";
    EXPECT_EQ(result.survivors_ended, 1U);
    EXPECT_TRUE(all_end_within(processes_with(token), 1s));
}

/// What one that is cancelled says; nothing where it had not begun.
struct Cancelled {
    std::optional<BinaryExecResult> result;
    bool done = false;
};

awaitable<void> cancel_after(std::shared_ptr<BinaryExecutor> executor, BinaryInvocation invocation,
                             std::chrono::microseconds time, std::shared_ptr<Cancelled> seen) {
    asio::steady_timer moment(co_await asio::this_coro::executor, time);
    asio::steady_timer end(moment.get_executor(), asio::steady_timer::time_point::max());
    asio::cancellation_signal signal;
    asio::co_spawn(
        moment.get_executor(), executor->exec(std::move(invocation)),
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr error, BinaryExecResult result) {
            if (!error) seen->result = std::move(result);
            seen->done = true;
            end.cancel();
        }));
    co_await moment.async_wait(asio::use_awaitable);
    if (seen->done) co_return;
    signal.emit(asio::cancellation_type::terminal);
    std::error_code cancelled;
    co_await end.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

TEST_F(Settled, CancelledAtRandomMomentsNothingIsLeft) {
    const auto executor = local_executor(runtime());
    const std::string token = unique_seconds();
    const char* factor = std::getenv("SANDPIPE_ROUNDS");
    const int rounds = factor ? std::max(1, static_cast<int>(60 * std::atof(factor))) : 60;
    std::mt19937 random(7);
    for (int i = 0; i < rounds; ++i) {
        auto invocation =
            await(sandbox_->wrap(sh("echo out; (setsid sleep " + token + " &); sleep .002; echo more")));
        const auto seen = std::make_shared<Cancelled>();
        await(cancel_after(executor, std::move(invocation), std::chrono::microseconds(random() % 9000), seen));
        if (!seen->result) continue;
        const BinaryExecResult& result = *seen->result;
        const bool finished = result.cause == Cause::finished;
        ASSERT_TRUE(finished || result.cause == Cause::cancelled) << i << ": " << summary(result);
        ASSERT_TRUE(!finished || result.out == "out\nmore") << i << ": " << summary(result);
        ASSERT_TRUE(result.out.empty() || result.out.starts_with("out")) << i;
    }
    EXPECT_TRUE(all_end_within(processes_with(token), 1s));
    EXPECT_EQ(contained(command("echo").args("next")).out, "next");
}

}  // namespace
}  // namespace sandpipe::testing
