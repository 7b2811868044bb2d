#include "sandbox/explain_place.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fake_path_facts.hpp"

namespace sandpipe {
namespace {

class ExplainPlace : public ::testing::Test {
  protected:
    ExplainPlace() {
        facts_.file("/w/file")
            .file("/tmp/host")
            .directory("/tmp/shown")
            .file("/tmp/shown/f")
            .file("/dev/shm/host");
        facts_.file("/proc/kcore").file("/etc/x").link("/w/link", "/etc/x");
        policy_.filesystem.allow_write = {"."};
        policy_.filesystem.allow_read = {"/tmp/shown"};
        policy_.filesystem.deny_read = {"**/*.pem"};
        policy_.filesystem.devices = {"/dev/sda"};
    }
    Explanation ask(ExplainedAct act, const std::string& path) {
        const CompiledPolicy compiled = compile(policy_, "/w", "/home/u", facts_);
        return explain_place(compiled, act, path, SessionView(compiled, facts_));
    }
    void expect(bool allowed, ExplainedAct act, const std::string& path, const std::string& rule) {
        const Explanation answer = ask(act, path);
        EXPECT_EQ(answer.allowed, allowed) << path << ": " << answer.rule;
        EXPECT_NE(answer.rule.find(rule), std::string::npos) << path << ": " << answer.rule;
    }
    test::FakePathFacts facts_;
    SandboxPolicy policy_;
};

constexpr auto kRead = ExplainedAct::read;
constexpr auto kWrite = ExplainedAct::write;
constexpr auto kExec = ExplainedAct::exec;

TEST_F(ExplainPlace, TheRuleOrTheDefault) {
    expect(true, kRead, "/etc/x", "reads are allowed by default");
    expect(false, kWrite, "/etc/x", "outside the writable roots: /w");
    expect(true, kWrite, "/w/new", "allowWrite .");
    expect(false, kWrite, "/w/a.pem", "denyRead **/*.pem");
    expect(false, kExec, "/w/a.pem", "denyRead **/*.pem");
    expect(true, kExec, "/etc/x", "by default");
    EXPECT_EQ(ask(kWrite, "/w/link").place, "/etc/x");
    expect(false, kWrite, "/w/link", "outside");
}

TEST_F(ExplainPlace, WhatASessionHasOfItsOwn) {
    expect(false, kRead, "/tmp/host", "hidden by the session's own /tmp");
    expect(true, kRead, "/tmp/none", "by default");
    expect(true, kWrite, "/tmp/host", "the session's own /tmp");
    expect(true, kRead, "/tmp/shown/f", "allowRead");
    expect(false, kWrite, "/tmp/shown/f", "outside");
    expect(false, kRead, "/dev/shm/host", "hidden");
    expect(true, kWrite, "/dev/shm/new", "own /dev");
    expect(true, kRead, "/dev/null", "by default");
    expect(true, kWrite, "/dev/sda", "devices");
    expect(false, kRead, "/dev/dri/card0", "not in the session's own /dev");
    expect(false, kRead, "/proc/kcore", "hidden");
    expect(false, kExec, "/proc/self", "noexec");
}

TEST_F(ExplainPlace, EveryDirectoryOnTheWayIsJudged) {
    facts_.file("/w/d/in").file("/w/d/shown/f").file("/w/d/shown/deep/g").file("/w/e/f");
    facts_.link("/w/d/out", "/etc/x").link("/w/e/out", "/etc/x").link("/w/by", "d/../file").link("/w/to", "e/f");
    policy_.filesystem.deny_read = {"d", "e"};
    policy_.filesystem.allow_read = {"d/shown", "/tmp/shown"};
    expect(false, kRead, "/w/e/../file", "denyRead e (no way leads through /w/e)");
    expect(false, kWrite, "/w/e/../file", "denyRead e (no way leads through /w/e)");
    expect(false, kExec, "/w//e/./../file", "denyRead e");
    expect(false, kRead, "/w/e/out", "denyRead e");
    expect(false, kRead, "/w/to", "denyRead e");
    // A denied directory in which something is shown can be passed, and shows no links.
    expect(true, kRead, "/w/d/../file", "by default");
    expect(true, kRead, "/w/by", "by default");
    expect(true, kRead, "/w/d/shown/../shown/deep/g", "allowRead d/shown");
    expect(false, kRead, "/w/d/in", "denyRead d");
    expect(false, kRead, "/w/d/out", "denyRead d");
    EXPECT_EQ(ask(kRead, "/w/d/out").place, "/w/d/out");
    EXPECT_EQ(ask(kRead, "/w/e/a/b").place, "/w/e/a/b");
    EXPECT_EQ(ask(kRead, "/w/e/a/../../file").place, "/w/e/a");
}

TEST_F(ExplainPlace, WhatIsHiddenIsNoWayEither) {
    facts_.link("/tmp/link", "/etc/x").file("/tmp/dir/f");
    expect(false, kRead, "/tmp/link", "hidden by the session's own /tmp");
    expect(true, kWrite, "/tmp/link", "the session's own /tmp");
    EXPECT_EQ(ask(kWrite, "/tmp/link").place, "/tmp/link");
    expect(false, kRead, "/tmp/dir/../shown/f", "hidden by the session's own /tmp");
    expect(true, kRead, "/tmp/shown/../shown/f", "allowRead");
    expect(false, kRead, "/dev/dri/../null", "own /dev");
}

TEST_F(ExplainPlace, ProcIsTheCommandsOwn) {
    facts_.file("/proc/self/status")
        .link("/proc/self/cwd", "/home")
        .link("/proc/self/root", "/home")
        .link("/proc/self/exe", "/x");
    facts_.file("/proc/1/status")
        .link("/proc/1/root", "/")
        .file("/proc/77/status")
        .file("/proc/cmdline")
        .file("/proc/sys/x");
    expect(true, kRead, "/proc/self/cwd/file", "by default");
    EXPECT_EQ(ask(kRead, "/proc/self/cwd/file").place, "/w/file");
    EXPECT_EQ(ask(kRead, "/proc/self/root/etc/x").place, "/etc/x");
    expect(false, kRead, "/proc/1/root/etc/x", "init");
    expect(false, kRead, "/proc/1/task/1/cwd", "init");
    expect(true, kRead, "/proc/1/status", "by default");
    expect(false, kRead, "/proc/77/status", "processes of its own");
    expect(true, kRead, "/proc/self/exe", "by default");
    expect(true, kExec, "/proc/self/exe", "runs already");
    expect(false, kWrite, "/proc/sys/x", "read-only");
    expect(true, kWrite, "/dev/stdout", "of the command's own");
    policy_.filesystem.disabled = true;
    expect(false, kRead, "/proc/cmdline", "own /proc");
    expect(false, kWrite, "/proc/sys/x", "read-only");
}

TEST_F(ExplainPlace, ADisabledFilesystemHasNoRules) {
    policy_.filesystem.disabled = true;
    for (const char* path : {"/etc/x", "/tmp/host", "/dev/dri/card0", "/w/a.pem"})
        for (const ExplainedAct act : {kRead, kWrite, kExec}) expect(true, act, path, "filesystem.disabled");
}

}  // namespace
}  // namespace sandpipe
