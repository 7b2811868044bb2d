#include <fcntl.h>
#include <unistd.h>

#include <sandpipe/unique_fd.hpp>

#include "support/hidden_code.hpp"
#include "support/relocated_code.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// Ways to run code of a file that is no listed program, in a program that is.
class ExecutableMemory : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
        host("mkdir w/bin; cp /usr/bin/true w/bin/tool; cp /usr/bin/true w/code; cp /usr/bin/true w/second");
    }

    /// A listed program stands in the root, so not all of it can be noexec where commands can write that program.
    SandboxPolicy listed(bool can_be_written) {
        SandboxPolicy policy = writable({"."});
        policy.filesystem.allow_execute = {"bin", "/usr/bin/cat", PathPattern(test_program("attack_map"))};
        if (!can_be_written) policy.filesystem.deny_write = {"bin"};
        return policy;
    }

    static std::string tried(Session& session, const std::string& how, const std::string& path) {
        return session.attack("attack_map", {how, path}).out;
    }
};

const char* const kWays[] = {
    "mapped",         "mapped_shared",     "protected",         "protected_written", "protected_shared",
    "protected_none", "protected_by_key",  "protected_around",  "protected_moved",   "protected_exchanged",
    "read_by_loader", "written_by_loader", "protected_unlinked"};

TEST_F(ExecutableMemory, AFileThatCommandsCanWriteIsNoCode) {
    Session free = open(writable());
    for (const char* way : kWays) EXPECT_EQ(tried(free, way, at("w/code")), "ok\n") << way;
    for (const bool can_be_written : {true, false}) {
        Session session = open(listed(can_be_written));
        for (const char* way : kWays) {
            host("cp --remove-destination /usr/bin/true w/code");
            const Ran ran = session.attack("attack_map", {way, at("w/code")});
            EXPECT_EQ(ran.out, "EACCES\n") << way;
            EXPECT_EQ(ran.denied().size(), 1U) << way;
        }
        EXPECT_EQ(session.sh("bin/tool && cat /dev/null && echo fine").out, "fine\n");
        EXPECT_EQ(tried(session, "read", at("w/second")), "ok\n");
    }
}

TEST_F(ExecutableMemory, WhatIsDeniedIsNamed) {
    Session session = open(listed(true));
    const Ran ran = session.attack("attack_map", {"protected", at("w/code")});
    ASSERT_EQ(ran.denied(), (std::vector<std::string>{"mprotect " + at("w/code") + " EACCES"}));
    EXPECT_EQ(ran.result.denials[0].kind, DenialKind::exec);
    EXPECT_EQ(ran.result.denials[0].path, at("w/code"));
    EXPECT_EQ(ran.result.denials[0].rule, "allowExecute");
}

TEST_F(ExecutableMemory, AProgramThatIsNotListedIsNoCode) {
    Session session = open(listed(true));
    for (const char* way : {"mapped", "protected", "protected_by_key"})
        EXPECT_EQ(tried(session, way, "/usr/bin/id"), "EACCES\n") << way;
    for (const char* way : {"mapped", "protected", "protected_by_key"})
        EXPECT_EQ(tried(session, way, "/usr/bin/cat"), "ok\n") << way;
}

TEST_F(ExecutableMemory, MemoryOfItsOwnIsAndSoAreLibrariesOfTheHost) {
    Session session = open(listed(true));
    for (const char* way : {"memory", "shared_memory", "attached_memory"})
        EXPECT_EQ(tried(session, way, "-"), "ok\n") << way;
    for (const char* way : {"mapped", "mapped_shared", "protected", "protected_written"})
        EXPECT_EQ(tried(session, way, "/dev/zero"), "ok\n") << way;
    host("cp /lib/*/libc.so.6 c/library.so 2>/dev/null || cp /lib*/libc.so.6 c/library.so");
    ignore_below("c");
    for (const char* way : {"mapped", "protected", "protected_around", "protected_moved", "read_by_loader"})
        EXPECT_EQ(tried(session, way, at("c/library.so")), "ok\n") << way;
}

TEST_F(ExecutableMemory, NothingBecomesExecutableUnasked) {
    Session free = open(writable());
    EXPECT_EQ(tried(free, "unasked", at("w/code")), "ok\n");
    Session session = open(listed(true));
    const Ran ran = session.attack("attack_map", {"unasked", at("w/code")});
    EXPECT_EQ(ran.out, "EPERM\n");
    EXPECT_EQ(ran.denied(), (std::vector<std::string>{"personality  EPERM"}));
    EXPECT_EQ(tried(session, "asks_persona", "-"), "ok\n");
}

TEST_F(ExecutableMemory, ALoaderIsNotLedToMapItLater) {
    host("cp " + test_program("hidden_code.so") +
         " w/plain.so; cp w/plain.so w/hidden.so; cp w/plain.so c/hidden.so");
    hide_code(at("w/hidden.so"));
    hide_code(at("c/hidden.so"));
    const std::string load =
        "for f in ./plain.so ./hidden.so; do LD_PRELOAD=$f cat /dev/null; (enable -f $f x); done";
    Session free = open(writable());
    EXPECT_EQ(free.sh(load).out, "code ran\ncode ran\ncode ran\ncode ran\n");
    for (const bool can_be_written : {true, false}) {
        Session session = open(listed(can_be_written));
        const Ran ran = session.sh(load);
        EXPECT_EQ(ran.out, "") << ran.err;
        const std::string plain = "mmap " + at("w/plain.so") + " EACCES";
        const std::string hidden = "mmap " + at("w/hidden.so") + " EACCES";
        EXPECT_EQ(ran.denied(), (std::vector<std::string>{plain, plain, hidden, hidden}));
        EXPECT_EQ(session.sh("LD_PRELOAD=" + at("c/hidden.so") + " cat /dev/null").out, "code ran\n")
            << "a library of the host's";
    }
}

// Whatever leads glibc's loader to it: the file has nothing to be executed, and nothing becomes so by mprotect.
TEST_F(ExecutableMemory, CodeIsNotMadeByRelocations) {
#ifndef __x86_64__
    GTEST_SKIP() << "missing: the machine code of this architecture";
#endif
    write_relocated_code(at("w/made.so"));
    write_relocated_code(at("c/made.so"));
    const char* const loads[] = {"LD_PRELOAD=./made.so cat /dev/null", "LD_AUDIT=./made.so cat /dev/null",
                                 "(enable -f ./made.so x)", "(enable -f \"$PWD/made.so\" x)",
                                 "/lib64/ld-linux-x86-64.so.2 --preload ./made.so /usr/bin/cat /dev/null"};
    Session free = open(writable());
    for (const char* load : loads) EXPECT_EQ(free.sh(load).out.find("code ran\n"), 0U) << load;
    for (const bool can_be_written : {true, false}) {
        Session session = open(listed(can_be_written));
        for (const char* load : loads) {
            const Ran ran = session.sh(load);
            EXPECT_EQ(ran.out, "") << load;
            EXPECT_EQ(ran.denied(), (std::vector<std::string>{"mmap " + at("w/made.so") + " EACCES"})) << load;
        }
        EXPECT_EQ(session.sh("LD_PRELOAD=" + at("c/made.so") + " cat /dev/null").out, "code ran\n")
            << "a library of the host's";
    }
}

// Its name is outside of the roots, but its descriptor lets the command write.
TEST_F(ExecutableMemory, WhatTheCommandWritesByAStreamIsNoLibrary) {
    host("cp " + test_program("hidden_code.so") + " w/plain.so; mkdir s; : > s/out");
    ignore_below("s");
    const auto run = [&](Session& session, const std::string& path) {
        const unique_fd out(::open(at("s/out").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
        const std::string load = "LD_PRELOAD=" + path + " cat /dev/null; enable -f " + path + " x";
        const std::string line = "cat plain.so; exec 9>&1 >&2; " + load;
        return session.run(session.shell(line).out(Output::descriptor(out.get())));
    };
    for (const std::string& path : {at("s/out"), std::string("/proc/self/fd/9")}) {
        Session free = open(writable());
        EXPECT_EQ(run(free, path).err.find("code ran\ncode ran\n"), 0U) << path;
        Session session = open(listed(true));
        const Ran ran = run(session, path);
        EXPECT_EQ(ran.err.find("code ran"), std::string::npos) << path;
        EXPECT_EQ(ran.result.denials.size(), 2U) << path << ran.err;
    }
}

}  // namespace
}  // namespace sandpipe::testing
