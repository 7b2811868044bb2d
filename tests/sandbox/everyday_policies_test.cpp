#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "support/sandbox_fixture.hpp"

namespace fs = std::filesystem;

namespace sandpipe::testing {
namespace {

/// What people write into policies, and where they start commands. Each of these has stopped one sandbox or another from
/// starting anything, or granted nothing without a word.
class EverydayPolicies : public SandboxTest {};

TEST_F(EverydayPolicies, TheMachineryMayStandInADeniedPlace) {
    host("mkdir o/bin && cp '" + test_program("sandpipe") + "' o/bin/ && chmod 755 o/bin/sandpipe");
    ignore_below("o");
    ignore_below("log");
    for (const char* denied : {"../o", "../o/bin", "../o/bin/sandpipe"}) {
        const std::string line = "o/bin/sandpipe run --workspace w --allow-write . --deny-read " + std::string(denied) +
                                 " -c 'echo started; cat ../o/bin/sandpipe' > log 2> log.err";
        host(line + "; test $? = 1; grep -qx started log; ! grep -q ELF log");
    }
    host("rm log log.err");
}

TEST_F(EverydayPolicies, ALinkOnTheWayOfARule) {
    host("mkdir w/b && ln -s b w/a && echo k > w/b/x && echo k > w/b/k.pem && ln -s b/k.pem w/l.pem");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"a/x", "a/missing"};
    policy.filesystem.deny_read = {"**/*.pem"};
    Session session = open(policy);
    expect_acts(session, "EACCES", at("w"),
                {"append @/a/x", "append @/b/x", "create @/a/missing", "create @/b/missing", "unlink @/a", "read @/l.pem",
                 "read @/a/k.pem", "rename @/empty @/a"});
    ignore_below("w/b");
    expect_acts(session, "ok", at("w"), {"create @/a/other", "read @/a/x"});
}

TEST_F(EverydayPolicies, AWorkspaceThatNobodyHereMayWrite) {
    host("cd /usr/share && '" + test_program("sandpipe") + "' run -- true && '" + test_program("sandpipe") +
         "' run --deny-write .x --deny-write '**/*.key' --allow-write /usr/share/doc -c 'pwd' | grep -qx /usr/share");
    EXPECT_FALSE(fs::exists("/usr/share/.git"));
    EXPECT_FALSE(fs::exists("/usr/share/.x"));
}

TEST_F(EverydayPolicies, AStarStarAtTheEndOfAGrant) {
    for (const char* grant : {"**", "./**", "dir/**", "*"}) {
        SandboxPolicy policy = writable({PathPattern(grant)});
        Session session = open(policy);
        expect_acts(session, "ok", at("w"), {"create @/dir/made", "unlink @/dir/made", "append @/dir/inner"});
        expect_acts(session, "EROFS", at("o"), {"create @/made"});
        session.close();
    }
    ignore_below("w/dir");
    const std::string whole = at("w") + "/**";
    Session session = open(writable({PathPattern(whole)}));
    expect_acts(session, "ok", at("w"), {"create @/made", "unlink @/made"});
}

TEST_F(EverydayPolicies, GrantsAndReadsOfWhatThisMachineLacks) {
    SandboxPolicy policy = writable({"/nope", "."});
    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    policy.filesystem.allow_read = {"/dev/tty", "/lib64", "/nope", "/libx32", "/dev/kvm-none"};
    policy.filesystem.deny_read = {"/nope/either", "/dev/nothing"};
    expect_changes({"+ w/y"});
    Session session = open(policy);
    EXPECT_GE(session.warnings().size(), 2U);
    expect_acts(session, "ok", at("w"), {"create @/y"});
    expect_acts(session, "EROFS", "/etc", {"create @/sandpipe-none"});
}

TEST_F(EverydayPolicies, TwoGrantsAreTwoMounts) {
    ignore_below("w");
    Session session = open(writable({"dir", "empty"}));
    expect_acts(session, "EXDEV", at("w"), {"rename @/dir/inner @/empty/inner", "link @/dir/inner @/empty/inner"});
    EXPECT_EQ(session.sh("mv dir/inner empty/inner && cat empty/inner").out, "content of /dir/inner\n");
}

TEST_F(EverydayPolicies, DevicesAreThereIfTheyAreGranted) {
    const char* node = "/dev/fuse";
    if (!fs::exists(node)) {
        std::printf("skipped: no %s on this machine\n", node);
        return;
    }
    EXPECT_EQ(open().sh(std::string("test -e ") + node).code(), 1);
    for (const char* granted : {node, "/dev/fus?"}) {
        SandboxPolicy policy = writable();
        policy.filesystem.devices = {granted};
        EXPECT_EQ(open(policy).sh("test -c /dev/fuse && ls /dev | grep -cx fuse").out, "1\n");
    }
}

TEST_F(EverydayPolicies, SignalsMeanInsideWhatTheyMeanOutside) {
    Session session = open();
    const Ran ran = session.run(command("sh").args("-c", "kill -TERM $$; echo on"));
    EXPECT_EQ(ran.out, "");
    ASSERT_TRUE(std::holds_alternative<Signaled>(ran.result.status));
    EXPECT_EQ(std::get<Signaled>(ran.result.status).signal, SIGTERM);
    EXPECT_EQ(session.sh("yes | head -1 > /dev/null; echo ${PIPESTATUS[0]}").out, "141\n");
    EXPECT_EQ(session.sh("id -G; id -u").out, [] {
        FILE* outside = ::popen("id -G; id -u", "r");
        char text[4096];
        const std::size_t size = outside ? std::fread(text, 1, sizeof text, outside) : 0;
        if (outside) ::pclose(outside);
        return std::string(text, size);
    }());
}

}  // namespace
}  // namespace sandpipe::testing
