#include "support/hung_filesystem.hpp"

#include <sandpipe/error.hpp>
#include <sandpipe/local_executor.hpp>
#include <sandpipe/sandboxed_executor.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "sandbox/make_enforcer.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

class HungFilesystem : public HungFilesystemTest {
  protected:
    /// What making a session says, while the loop goes on: how often another coroutine of it had its turn.
    std::pair<std::string, int> open_within(std::chrono::seconds limit, SandboxPolicy policy) {
        std::string said = "made";
        const int turns = turns_during([&]() -> awaitable<void> {
            SrtEnforcerOptions options;
            options.policy = policy;
            options.workspace = at("w");
            const ProxySettings proxies;  // no temporary: g++ 12 destroys those of a co_await twice
            try {
                co_await make_enforcer(runtime(), options, proxies, limit);
            } catch (const Error& error) {
                said = error.what();
            }
        });
        return {said, turns};
    }

    /// A plain command with a second to start in, and the turns that others had meanwhile.
    std::pair<BinaryExecResult, int> exec(BinaryInvocation invocation) {
        BinaryExecResult result;
        const auto executor = local_executor(runtime());
        const int turns = turns_during(
            [&]() -> awaitable<void> { result = co_await executor->exec(invocation.start_timeout(1s)); });
        return {std::move(result), turns};
    }

    void expect_late(const BinaryExecResult& result, Stage stage, const std::string& path) {
        EXPECT_EQ(result.cause, Cause::not_started);
        const auto* failure = std::get_if<NotStarted>(&result.status);
        ASSERT_NE(failure, nullptr);
        EXPECT_EQ(failure->stage, stage);
        EXPECT_EQ(failure->error, std::make_error_code(std::errc::timed_out));
        EXPECT_EQ(failure->path, path);
        EXPECT_NE(failure->hint.find("file system"), std::string::npos) << failure->hint;
    }

    [[nodiscard]] std::string hung(const std::string& name) const { return at("w/dir/fuse/" + name); }
};

TEST_F(HungFilesystem, OneThatAnswersIsATreeLikeOthers) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"dir/fuse/x", "**/*.key"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("ls -A dir/fuse && echo listed").out, "listed\n");
}

// The search for names to protect goes through all of a writable root.
TEST_F(HungFilesystem, ASessionThatWouldSearchItIsNotMadeAndHoldsUpNothing) {
    hang();
    const auto [said, turns] = open_within(1s, writable());
    EXPECT_NE(said.find("a file system hangs"), std::string::npos) << said;
    EXPECT_GE(turns, 10);
    // Others of the same Runtime are made and work meanwhile.
    EXPECT_EQ(open(writable({"../c"})).sh("echo x > ../c/two && echo written").out, "written\n");
    ignore_below("c");
    close_runtime();
}

TEST_F(HungFilesystem, ARunningCommandCanBeStoppedAndTheNextIsNotStarted) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"dir/fuse/x"};
    Session session = open(policy);
    Running reader = session.start(session.shell("echo begun; read line; ls dir/fuse").input(Input::stream()));
    reader.await_output("begun");
    hang();
    reader.write("go\n");
    const Ran next = session.run(session.shell("true").start_timeout(1s));
    EXPECT_EQ(next.result.cause, Cause::not_started);
    EXPECT_TRUE(std::holds_alternative<NotStarted>(next.result.status));
    reader.stop();
    const Ran stopped = reader.finish();
    EXPECT_EQ(stopped.result.cause, Cause::cancelled);
    session.close();
}

// The host opens these, and its only thread must not wait for it.
TEST_F(HungFilesystem, AFileOfAStreamHoldsUpItsCommandAlone) {
    hang();
    const std::string file = hung("file");
    {
        SCOPED_TRACE("input");
        const auto [result, turns] = exec(command("cat").input(Input::file(file)));
        expect_late(result, Stage::input, file);
        EXPECT_GE(turns, 10);
    }
    {
        SCOPED_TRACE("output");
        const auto [result, turns] = exec(command("echo").args("x").out(Output::file(file, FileMode::truncate)));
        expect_late(result, Stage::output, file);
        EXPECT_GE(turns, 10);
    }
    {
        SCOPED_TRACE("error output, whose input is a file that answers");
        auto both = command("cat").input(Input::file(at("w/file"))).err(Output::file(file, FileMode::append));
        const auto [result, turns] = exec(std::move(both));
        expect_late(result, Stage::output, file);
        EXPECT_GE(turns, 10);
    }
    const auto [other, turns] = exec(command("cat").input(Input::file(at("w/file"))));
    EXPECT_EQ(other.out, "content of /file");
    (void)turns;
}

TEST_F(HungFilesystem, AFileOfAStreamInASandboxToo) {
    Session session = open(writable({"../c"}));
    hang();
    const Ran ran = session.run(session.shell("cat").input(Input::file(hung("file"))).start_timeout(1s));
    ASSERT_TRUE(std::holds_alternative<NotStarted>(ran.result.status));
    EXPECT_EQ(std::get<NotStarted>(ran.result.status).stage, Stage::input);
    const std::string other = at("o/file");
    EXPECT_EQ(session.run(session.shell("cat").input(Input::file(other))).out, "content of /file\n");
}

TEST_F(HungFilesystem, ACommandThatWaitsForItsFileIsCancelledAtOnce) {
    using namespace asio::experimental::awaitable_operators;
    hang();
    const auto executor = local_executor(runtime());
    const auto begin = std::chrono::steady_clock::now();
    drive([&]() -> awaitable<void> {
        asio::steady_timer timer(co_await asio::this_coro::executor, 200ms);
        auto waiting = command("cat").input(Input::file(hung("file")));
        const auto first = co_await (executor->exec(std::move(waiting)) || timer.async_wait(asio::use_awaitable));
        EXPECT_EQ(first.index(), 1U);
    });
    close_runtime();  // nothing waits for the thread
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "start_timeout is 30 s";
}

TEST_F(HungFilesystem, ALookAtABypassedProgramIsOneOfTheStart) {
    SandboxedExecutorOptions options;
    options.inner = local_executor(runtime());
    options.sandbox = open(writable({"../c"})).enforcer();
    options.bypass = [](const std::string&) { return true; };
    const auto executor = sandboxed_executor(options);
    hang();
    BinaryExecResult result;
    const int turns = turns_during([&]() -> awaitable<void> {
        auto invocation = command(hung("program")).start_timeout(1s);
        result = co_await executor->exec(std::move(invocation));
    });
    EXPECT_GE(turns, 10);
    EXPECT_EQ(result.cause, Cause::not_started);
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
    EXPECT_EQ(std::get<NotStarted>(result.status).stage, Stage::wrap);
}

// Its disk may hang; the command, its timeout and its result do not.
TEST_F(HungFilesystem, AnArtifactIsGivenUpAndTheResultComesAllTheSame) {
    RunShellCommandToolOptions options;
    options.enforcer = open(writable({"../c"})).enforcer();
    options.gate = [](const ToolRequest&) -> awaitable<GateDecision> { co_return Approved{}; };
    options.spool.memory_bytes = 0;
    options.spool.directory = at("w/dir/fuse");
    const RunShellCommandTool tool(options);
    hang();
    ToolResult result;
    const int turns = turns_during([&]() -> awaitable<void> {
        const nlohmann::json input{{"command", "echo said"}};
        result = co_await tool.call(input);
    });
    EXPECT_GE(turns, 10);
    EXPECT_FALSE(result.is_error) << result.text;
    EXPECT_NE(result.text.find("said"), std::string::npos);
    const ArtifactFacts facts = result.artifact->facts();  // whom no writer keeps waiting
    EXPECT_TRUE(facts.truncated);
    EXPECT_EQ(facts.kept, 0U);
    EXPECT_NE(facts.problem.find("hangs"), std::string::npos) << facts.problem;
}

}  // namespace
}  // namespace sandpipe::testing
