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
        return explain_place(compile(policy_, "/w", "/home/u", facts_), act, resolve_path(path, facts_));
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

TEST_F(ExplainPlace, ADisabledFilesystemHasNoRules) {
    policy_.filesystem.disabled = true;
    for (const char* path : {"/etc/x", "/tmp/host", "/dev/dri/card0", "/w/a.pem"})
        for (const ExplainedAct act : {kRead, kWrite, kExec}) expect(true, act, path, "filesystem.disabled");
}

}  // namespace
}  // namespace sandpipe
