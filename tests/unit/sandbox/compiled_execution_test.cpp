#include "sandbox/policy/compile.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "compiled_policy.hpp"

namespace sandpipe {
namespace {

using namespace test;

SandboxPolicy executing(Paths programs, Paths writable) {
    SandboxPolicy policy = policy_of({{}, {}, std::move(writable), {}});
    policy.filesystem.restrict_execute = true;
    policy.filesystem.allow_execute = std::move(programs);
    return policy;
}

TEST(Execution, ProgramsTheirLoadersAndTheShell) {
    FakePathFacts facts;
    facts.program("/usr/bin/git", {true, false, true, "/lib64/ld.so"})
        .file("/usr/lib/ld.so")
        .link("/lib64", "/usr/lib");
    facts.program("/usr/bin/bash", {true, false, true, "/lib64/ld.so"})
        .link("/bin", "/usr/bin")
        .file("/usr/bin/id");
    facts.program("/opt/tools/a/musl", {true, false, true, "/usr/lib/musl.so"}).file("/usr/lib/musl.so");
    facts.program("/opt/script", {false, true, false, "/usr/bin/python"}).file("/usr/bin/python");
    const CompiledPolicy made = compile(executing({"/bin/git", "/opt/tools", "/opt/script", "/nope"}, {}),
                                        "/w", "/home/u", facts, "/bin/bash");
    const wire::AccessRules& rules = made.plan.rules;
    EXPECT_TRUE(rules.restrict_execute);
    for (const char* place :
         {"/usr/bin/git", "/usr/bin/bash", "/usr/lib/ld.so", "/opt/tools/a/musl", "/usr/lib/musl.so"})
        EXPECT_TRUE(rules.execute(place).allowed) << place;
    for (const char* place : {"/usr/bin/id", "/usr/bin/python", "/nope"})
        EXPECT_FALSE(rules.execute(place).allowed) << place;
    EXPECT_TRUE(
        warns_of(made, "/opt/script is a script of /usr/bin/python, which allowExecute does not list"));
    EXPECT_TRUE(warns_of(made, "filesystem.allowExecute[3]: \"/nope\" does not exist"));
    EXPECT_EQ(made.warnings.size(), 2U);
    EXPECT_EQ(error_of(executing({"/dev/null"}, {}), facts).errc(), Errc::invalid_sandbox_config);
}

TEST(Execution, WritableMountsAreNoexecUnlessAProgramStandsThere) {
    FakePathFacts facts;
    facts.file("/w/bin/tool").directory("/v").directory("/opt/x/out");
    const CompiledPolicy made =
        compile(executing({"bin", "/opt/x"}, {".", "/v", "/opt/x/out"}), "/w", "/home/u", facts);
    const auto noexec = [&](const std::string& place, MountStep step) {
        for (const MountOp* op : mounts_at(made, place))
            if (op->step == step) return op->noexec;
        ADD_FAILURE() << place;
        return false;
    };
    EXPECT_FALSE(noexec("/w", MountStep::place_writable));
    EXPECT_TRUE(noexec("/v", MountStep::place_writable));
    EXPECT_FALSE(noexec("/opt/x/out", MountStep::place_writable));
    EXPECT_TRUE(noexec("/tmp", MountStep::private_tmp));
    EXPECT_TRUE(noexec("/dev", MountStep::private_dev));
    SandboxPolicy kept = executing({"bin", "/opt/x"}, {".", "/v", "/opt/x/out"});
    kept.filesystem.deny_write = {"bin"};
    const CompiledPolicy read_only = compile(kept, "/w", "/home/u", facts);
    for (const MountOp& op : read_only.plan.mounts) {
        if (!op.path.starts_with("/w") || op.step == MountStep::take_tree) continue;
        EXPECT_EQ(op.noexec, op.path == "/w") << op.path << ": it has a mount of its own";
    }
    for (const MountOp& op : compile_lists({{}, {}, {"."}, {}}, facts).plan.mounts)
        EXPECT_FALSE(op.noexec) << op.path;
}

}  // namespace
}  // namespace sandpipe
