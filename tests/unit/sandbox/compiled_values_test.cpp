#include "sandbox/policy/compile.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiled_policy.hpp"
#include "sandbox/policy/policy_entries.hpp"

namespace sandpipe {
namespace {

using namespace test;

TEST(Compile, MissingAllowWrite) {
    FakePathFacts facts;
    SandboxPolicy policy = policy_of({{}, {}, {".", "out/new"}, {}});
    const Error error = error_of(policy, facts);
    EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
    EXPECT_TRUE(mentions(error.text(), "filesystem.allowWrite[1]: \"/w/out/new\" does not exist"))
        << error.text();

    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    const CompiledPolicy skipped = compile_both_ways(policy, facts);
    EXPECT_TRUE(warns_of(skipped, "does not exist and is not granted"));
    EXPECT_EQ(skipped.plan.rules.writable_roots(), std::vector<std::string>{"/w"});

    policy.filesystem.allow_write = {"/v/out"};
    policy.filesystem.missing_allow_write = MissingAllowWrite::create;
    const CompiledPolicy created = compile_both_ways(policy, facts);
    EXPECT_EQ(created.create_directories, std::vector<std::string>{"/v/out"});
    EXPECT_EQ(view(created, "/v/out"), kWritable);
    EXPECT_FALSE(created.plan.rules.write("/v/out/.bashrc").allowed);
}

TEST(Compile, WhatCannotBeGrantedOrDeniedIsAnError) {
    FakePathFacts facts;
    facts.unreachable("/root")
        .directory("/proc/sys")
        .directory("/sys/fs")
        .link("/w/everything", "/")
        .directory("/dev/shm/x");
    struct Case {
        Lists lists;
        const char* where;
    };
    const std::vector<Case> cases{
        {{{}, {}, {"/"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/**"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {".", "everything"}, {}}, "filesystem.allowWrite[1]"},
        {{{}, {}, {"/proc/sys"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/sys"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/sys/fs"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/dev"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/dev/sda"}, {}}, "filesystem.devices"},
        {{{}, {}, {"/dev/shm/x"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/root/x"}, {}}, "cannot be looked at"},
        {{{"/"}, {}, {}, {}}, "filesystem.denyRead[0]"},
        {{{}, {}, {}, {"/w/.."}}, "filesystem.denyWrite[0]"},
        {{{"/proc/sys"}, {}, {}, {}}, "filesystem.denyRead[0]"},
    };
    for (const Case& c : cases) {
        const Error error = error_of(policy_of(c.lists), facts);
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        EXPECT_TRUE(mentions(error.text(), c.where)) << error.text();
    }
    // Twins: what nobody has to grant may stand in the lists all the same.
    EXPECT_NO_THROW(compile_lists({{"/root/x"},
                                   {"/dev/tty", "/lib64", "/nope"},
                                   {".", "/dev/null", "/dev/stdout", "/dev/fd", "/dev/shm"},
                                   {"/root/x", "/proc/sys"}},
                                  facts));
}

TEST(Compile, ASessionNeedsADirectoryThatItsOwnTmpCovers) {
    FakePathFacts missing;
    missing.link("/tmp", "/nowhere");
    EXPECT_EQ(error_of({}, missing).text(), "/tmp leads to /nowhere, which is missing; make /tmp a directory");
    FakePathFacts file;
    file.file("/tmp");
    EXPECT_EQ(error_of({}, file).text(),
              "/tmp leads to /tmp, which is no directory that a session can have its own of; make /tmp a directory");
    EXPECT_EQ(error_of({}, file).errc(), Errc::sandbox_unsupported_env);
}

TEST(Compile, WorkspaceAndHome) {
    FakePathFacts facts;
    facts.file("/w/file").link("/l", "/w");
    for (const char* workspace : {"", "w", "/nope", "/w/file", "/dev/shm", "/proc"})
        EXPECT_EQ(error_of({}, facts, workspace).errc(), Errc::invalid_sandbox_config) << workspace;
    EXPECT_TRUE(mentions(error_of({}, facts, "/proc").text(), "has its own /dev and /proc; name another"));
    EXPECT_EQ(compile({}, "/l/./", "/home/u", facts).plan.workspace, "/w");
    EXPECT_TRUE(mentions(error_of(policy_of({{"~/x"}, {}, {}, {}}), facts, "/w", "").text(),
                         "filesystem.denyRead[0]"));
    EXPECT_EQ(compile({}, "/l", "", facts).git_safe_directories, std::vector<std::string>{"/w"});
}

TEST(Compile, VoidGrantsAndHardLinksAreWarnedOf) {
    FakePathFacts facts;
    facts.directory("/w/a/b").file("/w/s.txt", 2).file("/w/p.txt", 3).file("/w/once");
    const CompiledPolicy compiled =
        compile_lists({{"a", "s.txt", "once"}, {}, {".", "a/b"}, {"p.txt"}}, facts);
    EXPECT_TRUE(warns_of(compiled, "allowWrite a/b grants nothing: denyRead a prevails"));
    EXPECT_TRUE(warns_of(compiled, "/w/s.txt has 1 more hard link"));
    EXPECT_TRUE(warns_of(compiled, "/w/p.txt has 2 more hard link"));
    EXPECT_EQ(compiled.warnings.size(), 3U);
}

// For this process that name leads to the host's cwd, which no policy is about.
TEST(Compile, TheCwdThatProcTellsIsTheWorkspace) {
    FakePathFacts facts;
    facts.file("/w/a/k").file("/w/b").file("/w/cwdx").link("/proc/self/cwd", "/home");
    const CompiledPolicy compiled = compile_lists(
        {{"/proc/self/cwd/a", "//proc/./self//cwd/b", "/proc/thread-self/cwd/a/../cwdx"}, {}, {}, {}}, facts);
    for (const char* place : {"/w/a/k", "/w/b", "/w/cwdx"}) EXPECT_FALSE(compiled.plan.rules.read(place).allowed) << place;
    EXPECT_TRUE(compiled.plan.rules.read("/home/a").allowed);
    EXPECT_EQ(absolute_path("/proc/self/cwdx", "/w", "", "k"), "/proc/self/cwdx");
    EXPECT_EQ(absolute_path("/proc/self/cwd", "/w", "", "k"), "/w");
    EXPECT_EQ(absolute_path("/proc", "/w", "", "k"), "/proc");
}

TEST(Compile, FilesystemDisabledSwitchesOffTheFilesystemOnly) {
    SandboxPolicy policy = policy_of({{"/w/x"}, {}, {"/nope"}, {}});
    policy.filesystem.disabled = true;
    const CompiledPolicy off = compile(policy, "/w", "/home/u", FakePathFacts());
    ASSERT_EQ(off.plan.mounts.size(), 1U) << "the settings of the machine are no files";
    EXPECT_EQ(off.plan.mounts[0].step, MountStep::bind_read_only);
    EXPECT_EQ(off.plan.mounts[0].path, "/sys");
    EXPECT_FALSE(off.plan.rules.enabled);
    EXPECT_FALSE(off.plan.filesystem_enforced);
    EXPECT_TRUE(off.plan.own_network);
    policy = {};
    policy.network.disabled = true;
    const CompiledPolicy open = compile(policy, "/w", "/home/u", FakePathFacts());
    EXPECT_TRUE(open.plan.filesystem_enforced && open.plan.rules.enabled);
    EXPECT_FALSE(open.plan.own_network);
}

TEST(Compile, PoliciesBuiltInCppAreCheckedToo) {
    EXPECT_TRUE(
        mentions(error_of(policy_of({{"*/../x"}, {}, {}, {}}), FakePathFacts()).text(), "denyRead[0]"));
}

TEST(Compile, Devices) {
    FakePathFacts facts;
    facts.link("/dev/cd", "sda").file("/dev/plain");
    SandboxPolicy policy;
    policy.filesystem.devices = {"/dev/sda", "/dev/dri/card0", "/dev/null"};
    const CompiledPolicy compiled = compile_both_ways(policy, facts);
    ASSERT_EQ(mounts_at(compiled, "/dev").size(), 1U);
    EXPECT_EQ(mounts_at(compiled, "/dev")[0]->holes,
              (std::vector<std::string>{"/dev/dri/card0", "/dev/sda"}));
    EXPECT_EQ(mounts_at(compiled, "/dev")[0]->hole_is_directory, (std::vector<std::uint8_t>{0, 0}));
    EXPECT_TRUE(compiled.plan.rules.write("/dev/sda").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/dev/sdb").allowed);
    EXPECT_EQ(compiled.plan.rules.writable_roots(), std::vector<std::string>{});
    policy.filesystem.devices = {"/dev/dri", "/dev/sd*", "/dev/nvidia*"};
    const CompiledPolicy found = compile_both_ways(policy, facts);
    EXPECT_EQ(mounts_at(found, "/dev")[0]->holes, (std::vector<std::string>{"/dev/dri/card0", "/dev/sda"}));
    EXPECT_TRUE(warns_of(found, "\"nvidia*\" matches nothing in /dev"));
    for (const char* device : {"/dev/none", "/dev/cd", "/dev/plain", "/dev/../w"}) {
        policy.filesystem.devices = {device};
        EXPECT_TRUE(mentions(error_of(policy, facts).text(), "filesystem.devices[0]")) << device;
    }
    policy.filesystem.devices = {"/dev/dri/card0"};
    policy.filesystem.deny_write = {"/dev/dri"};
    EXPECT_EQ(error_of(policy, facts).errc(), Errc::sandbox_policy_conflict);
}

TEST(Compile, OwnPlacesAreWritableAndNoRoots) {
    const CompiledPolicy compiled = compile_lists({}, FakePathFacts());
    for (const char* place : {"/tmp/x", "/dev/null", "/dev/tty", "/dev/shm/x", "/dev/ptmx", "/dev/pts/0"})
        EXPECT_TRUE(compiled.plan.rules.write(place).allowed) << place;
    EXPECT_EQ(compiled.plan.rules.write("/w/x").error, EROFS);
    EXPECT_TRUE(compiled.plan.rules.writable_roots().empty());
    SandboxPolicy policy;
    policy.limits.tmp_bytes = 4096;
    const CompiledPolicy small = compile(policy, "/w", "/home/u", FakePathFacts());
    ASSERT_EQ(mounts_at(small, "/tmp").size(), 1U);
    EXPECT_EQ(mounts_at(small, "/tmp")[0]->bytes, 4096U);
    EXPECT_EQ(mounts_at(small, "/dev")[0]->bytes, 4096U) << "of /dev/shm";
    EXPECT_TRUE(warns_of(compile_lists({{"/tmp"}, {}, {}, {}}, FakePathFacts()), "TMPDIR"));
    EXPECT_FALSE(warns_of(compile_lists({{}, {}, {"/tmp"}, {}}, FakePathFacts()), "TMPDIR"));
}

}  // namespace
}  // namespace sandpipe
