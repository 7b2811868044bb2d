#include <gmock/gmock.h>

#include <sandpipe/error.hpp>
#include <sandpipe/local_executor.hpp>
#include <sandpipe/sandboxed_executor.hpp>

#include <csignal>
#include <filesystem>

#include "support/executor_fixture.hpp"
#include "support/host_snapshot.hpp"
#include "support/spawning_executor.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Sandboxed : public SessionTest {
  protected:
    std::shared_ptr<SandboxedExecutor> make(std::shared_ptr<BinaryExecutor> inner) {
        SandboxedExecutorOptions options;
        options.inner = std::move(inner);
        options.sandbox = sandbox_;
        options.bypass = bypass_;
        options.on_sandbox = notes_.sink();
        return sandboxed_executor(options);
    }

    std::function<bool(const std::string&)> bypass_;
    AuditNotes notes_;
};

TEST_F(Sandboxed, RemovingTheWrapperIsOneLine) {
    std::shared_ptr<BinaryExecutor> executor = local_executor(runtime());
    const std::string outside = std::filesystem::path(workspace()).parent_path().string() + "/outside";
    const auto act = [&] { return await(executor->exec(command("touch").args(outside))); };
    EXPECT_EQ(act().exit_code, 0);
    ASSERT_TRUE(std::filesystem::remove(outside));
    executor = make(executor);
    EXPECT_NE(act().exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(outside));
    EXPECT_EQ(executor->path_domain(), PathDomain{"host"});
}

TEST_F(Sandboxed, DenialsAreToldInTheirOrderBeforeTheResult) {
    for (const bool by_relay : {false, true}) {
        AuditNotes notes;
        SandboxedExecutorOptions options;
        options.inner = by_relay ? std::make_shared<SpawningExecutor>() : local_executor(runtime());
        options.sandbox = sandbox_;
        options.on_sandbox = notes.sink();
        const auto executor = sandboxed_executor(options);
        const auto result = await(executor->exec(sandbox_->shell("echo a > /etc/first; echo b > /etc/second; true")));
        EXPECT_EQ(result.exit_code, 0);
        const auto events = notes.events();
        ASSERT_EQ(events.size(), 2u) << "by a relay: " << by_relay;
        EXPECT_EQ(std::get<DeniedAct>(events[0].what).denial.resolved, "/etc/first");
        EXPECT_EQ(std::get<DeniedAct>(events[1].what).denial.resolved, "/etc/second");
        EXPECT_THAT(std::get<DeniedAct>(events[0].what).denial.writable_roots, ElementsAre(workspace()));
        EXPECT_EQ(events[0].command_id, events[1].command_id);
        EXPECT_GT(events[0].command_id, 0u);
    }
}

TEST_F(Sandboxed, CommandsAreTheSameInEventsAndKeepApart) {
    const auto executor = make(local_executor(runtime()));
    for (int i = 0; i < 3; ++i) (void)await(executor->exec(sandbox_->shell("echo a > /etc/x; echo a > /etc/x")));
    const auto events = notes_.events();
    ASSERT_EQ(events.size(), 6u);
    for (std::size_t i = 0; i < events.size(); i += 2) EXPECT_EQ(events[i].command_id, events[i + 1].command_id);
    EXPECT_LT(events[1].command_id, events[2].command_id);
    EXPECT_LT(events[3].command_id, events[4].command_id);
}

TEST_F(Sandboxed, StartFailuresAreToldOnce) {
    const auto executor = make(local_executor(runtime()));
    const auto result = await(executor->exec(command("/no/such/program")));
    ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
    ASSERT_THAT(notes_.kinds(), ElementsAre("start_failed"));
    const AuditEvent event = notes_.events().at(0);
    EXPECT_EQ(std::get<StartFailed>(event.what).program, "/no/such/program");
    EXPECT_EQ(std::get<StartFailed>(event.what).failure.stage, Stage::program);
}

TEST_F(Sandboxed, ABypassRunsOutsideAndIsOneLoudEvent) {
    bypass_ = [](const std::string& program) { return program == "touch"; };
    const auto executor = make(local_executor(runtime()));
    const std::string outside = std::filesystem::path(workspace()).parent_path().string() + "/outside";
    EXPECT_EQ(await(executor->exec(command("touch").args(outside))).exit_code, 0);
    EXPECT_TRUE(std::filesystem::remove(outside));
    EXPECT_THAT(notes_.kinds(), ElementsAre("bypass"));
    EXPECT_TRUE(std::get<Bypass>(notes_.events().at(0).what).resolved.ends_with("/touch"));
    EXPECT_NE(await(executor->exec(command("cp").args("/dev/null", outside))).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(outside));
}

TEST_F(Sandboxed, WarningsOfTheSessionAreToldOnceASink) {
    write_file(workspace() + "/linked", "x");
    std::filesystem::create_hard_link(workspace() + "/linked", workspace() + "/second");
    SrtEnforcerOptions options;
    options.policy.filesystem.deny_write = {"linked"};
    sandbox_ = open(options);
    ASSERT_EQ(sandbox_->warnings().size(), 1u);
    const auto executor = make(local_executor(runtime()));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(await(executor->exec(command("true"))).exit_code, 0);
    ASSERT_THAT(notes_.kinds(), ElementsAre("warning"));
    EXPECT_EQ(std::get<PolicyWarning>(notes_.events().at(0).what).text, sandbox_->warnings().front());
    EXPECT_EQ(notes_.events().at(0).command_id, 0u);
}

TEST_F(Sandboxed, ResultsComeAsTheInnerExecutorHasThem) {
    const auto executor = make(local_executor(runtime()));
    const auto result = await(executor->exec(
        command("sh").args("-c", "cat; kill -9 $$").input(Input::bytes("in")).env(Environment::empty().set("A", "b"))));
    EXPECT_EQ(result.out, "in");
    EXPECT_EQ(std::get<Signaled>(result.status).signal, SIGKILL);
    const auto late = await(executor->exec(command("sleep").args("1000").timeout(100ms)));
    EXPECT_EQ(late.cause, Cause::timed_out);
}

TEST_F(Sandboxed, AClosedSessionIsAnErrorAndAnEvent) {
    const auto executor = make(local_executor(runtime()));
    await(sandbox_->close());
    try {
        (void)await(executor->exec(command("true")));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::sandbox_not_initialized);
    }
    EXPECT_THAT(notes_.kinds(), ElementsAre("start_failed"));
}

TEST_F(Sandboxed, AnInvocationOfOneSessionIsNotTakenByAnother) {
    const auto executor = make(local_executor(runtime()));
    const auto other = open();
    EXPECT_THROW((void)await(executor->exec(other->shell("true"))), Error);
    EXPECT_EQ(await(executor->exec(sandbox_->shell("echo own"))).out, "own");
}

}  // namespace
}  // namespace sandpipe::testing
