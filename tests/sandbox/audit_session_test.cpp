#include <gmock/gmock.h>

#include <sandpipe/local_executor.hpp>
#include <sandpipe/sandboxed_executor.hpp>

#include "support/executor_fixture.hpp"
#include "support/machine_without.hpp"
#include "support/spawning_executor.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What is told of a session as a whole.
class AuditSession : public ExecutorTest {
  protected:
    std::shared_ptr<BinaryExecutor> executor(const std::shared_ptr<SandboxEnforcer>& sandbox,
                                             std::shared_ptr<BinaryExecutor> inner = nullptr) {
        SandboxedExecutorOptions options;
        options.inner = inner ? inner : local_executor(runtime());
        options.sandbox = sandbox;
        options.on_sandbox = notes_.sink();
        return sandboxed_executor(options);
    }
    void run(BinaryExecutor& executor) { EXPECT_EQ(await(executor.exec(command("true"))).exit_code, 0); }

    AuditNotes notes_;
};

TEST_F(AuditSession, WhatAWeakerSessionLacksIsToldOnce) {
    const Without listener("listener");
    restart();
    SrtEnforcerOptions options;
    options.enable_weaker_nested_sandbox = true;
    const auto sandbox = open(std::move(options));
    const auto first = executor(sandbox);
    run(*first);
    EXPECT_THAT(notes_.kinds(), ElementsAre("weaker", "weaker"));
    run(*first);
    ASSERT_THAT(notes_.kinds(), ElementsAre("weaker", "weaker"));
    std::vector<std::string> mechanisms;
    for (const AuditEvent& event : notes_.events()) {
        const auto& weaker = std::get<Weaker>(event.what);
        mechanisms.push_back(weaker.mechanism);
        EXPECT_EQ(event.command_id, 0u);
        EXPECT_EQ(weaker.text, sandbox->enforcement().find(weaker.mechanism)->detail);
        EXPECT_THAT(weaker.text, HasSubstr("is given up"));
    }
    EXPECT_THAT(mechanisms, ::testing::UnorderedElementsAre("denials", "names"));
    await(sandbox->close());
}

TEST_F(AuditSession, AWholeOneHasNothingToTell) {
    SrtEnforcerOptions options;
    options.enable_weaker_nested_sandbox = true;
    const auto sandbox = open(std::move(options));
    run(*executor(sandbox));
    EXPECT_THAT(notes_.kinds(), IsEmpty());
}

TEST_F(AuditSession, ANarrowedSessionIsToldOnceAndItsOriginIsNot) {
    const auto wide = open();
    SandboxPolicy policy;  // nothing can be written
    policy.filesystem.deny_read = {"/opt"};
    const auto narrow = await(wide->narrow(policy));
    run(*executor(wide));
    EXPECT_THAT(notes_.kinds(), IsEmpty());
    const auto narrowed = executor(narrow);
    for (int i = 0; i < 3; ++i) run(*narrowed);
    ASSERT_THAT(notes_.kinds(), ElementsAre("narrowed"));
    const std::string text = std::get<Narrowed>(notes_.events()[0].what).text;
    EXPECT_THAT(text, HasSubstr("filesystem.allowWrite is [] instead of"));
    EXPECT_THAT(text, HasSubstr("filesystem.denyRead"));
    const auto again = await(narrow->narrow(SandboxPolicy{policy}));
    run(*executor(again, std::make_shared<SpawningExecutor>()));
    EXPECT_THAT(notes_.kinds(), ElementsAre("narrowed", "narrowed"));
}

}  // namespace
}  // namespace sandpipe::testing
