#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Acts = std::vector<std::string>;

class DenyRead : public SandboxTest {
  protected:
    SandboxPolicy denying(std::vector<PathPattern> paths, std::vector<PathPattern> allowed = {}) {
        SandboxPolicy policy = writable({".", "../c"});
        policy.filesystem.deny_read = std::move(paths);
        policy.filesystem.allow_read = std::move(allowed);
        return policy;
    }
};

const Acts kOnFile{"read @/file",         "read_handle @/file", "read_below @ file", "cut @/file",
                   "readwrite @/file",    "write @/file",       "append @/file",     "openat2 @/file",
                   "write_handle @/file", "truncate @/file"};
const Acts kOnDirectory{
    "list @/dir",       "list_handle @/dir",      "chdir @/dir",       "read @/dir/inner",
    "stat @/dir/inner", "read @/dir/deep/last",   "list @/dir/deep",   "create @/dir/n",
    "mkdir @/dir/d",    "read_below @/dir inner", "write @/dir/inner", "create_below @/dir n2"};

TEST_F(DenyRead, AFileFailsWithEaccesForRootToo) {
    ignore_below("c");
    Session session = open(denying({"file", "../o/file"}));
    expect_twins(session, "EACCES", at("w"), at("c"), kOnFile);
    expect_acts(session, "EACCES", at("o"), {"read @/file", "read_handle @/file", "read_below @ file"});
    const Ran ran = session.sh("cat file; echo rc=$?");
    EXPECT_EQ(ran.out, "rc=1\n");
}

TEST_F(DenyRead, ADirectoryFailsWithEaccesForRootToo) {
    ignore_below("c");
    Session session = open(denying({"dir", "../o/dir"}));
    expect_twins(session, "EACCES", at("w"), at("c"), kOnDirectory);
    expect_acts(session, "EACCES", at("o"),
                {"list @/dir", "chdir @/dir", "read @/dir/inner", "read @/dir/deep/last"});
}

TEST_F(DenyRead, TheMaskCannotBeMovedChangedOrLinked) {
    Session session = open(denying({"file", "dir"}));
    expect_acts(session, "EACCES|EBUSY|EROFS|EXDEV", at("w"),
                {"unlink @/file", "rename @/file @/f2", "rename @/two @/file", "exchange @/file @/two",
                 "chmod @/file", "link @/file @/alias", "utimes @/file", "rmdir @/dir", "rename @/dir @/d2",
                 "exchange @/dir @/empty", "chmod @/dir", "chown @/dir", "setxattr @/file"});
}

TEST_F(DenyRead, ThePlaceStaysClosedWithEverySpelling) {
    host("ln -s . w/loop; ln -s file w/to-file; ln -s ../w/dir o/to-dir");
    Session session = open(denying({"file", "dir"}));
    expect_acts(session, "EACCES", at("w"),
                {"read @/../w/file", "read @//file", "read @/loop/file", "read @/to-file",
                 "read /proc/self/root@/file", "read /proc/self/cwd/file", "read file", "read ./file",
                 "read_below /proc/self/root @/file", "read /proc/1/root@/file", "list @/../o/to-dir",
                 "read @/../o/to-dir/inner", "read loop/dir/inner", "list /proc/self/cwd/dir",
                 "list /proc/self/root@/dir"});
    expect_acts(session, "ok", at("w"), {"read /proc/self/cwd/two", "read @/loop/two"});
}

TEST_F(DenyRead, ARuleOnALinkClosesItsTarget) {
    host("ln -s ../o/dir w/link");
    Session session = open(denying({"link"}));
    expect_acts(session, "EACCES", at("w"), {"list @/link/", "read @/link/inner"});
    expect_acts(session, "EACCES", at("o"), {"list @/dir", "read @/dir/inner"});
}

TEST_F(DenyRead, ALinkToADeviceDoesNotCloseTheDevice) {
    host("ln -s /dev/null w/history");
    Session session = open(denying({"history"}));
    EXPECT_EQ(session.sh("echo x > /dev/null && cat /dev/null").code(), 0);
}

TEST_F(DenyRead, ADeniedProgramDoesNotRun) {
    host("cp /bin/true w/t; cp /bin/true w/free; cp /bin/true w/dir/t");
    Session session = open(denying({"t", "dir"}));
    expect_acts(session, "EACCES", at("w"), {"exec @/t", "exec @/dir/t", "exec /proc/self/cwd/t"});
    expect_acts(session, "ok", at("w"), {"exec @/free"});
    const Ran ran = session.run(command(at("w/t")));
    EXPECT_EQ(ran.result.cause, Cause::not_started);
}

TEST_F(DenyRead, TheLongestRuleWinsWhateverTheOrder) {
    for (const bool reversed : {false, true}) {
        std::vector<PathPattern> deny{"dir", "dir/deep/last"};
        if (reversed) deny = {"dir/deep/last", "dir"};
        Session session = open(denying(deny, {"dir/deep"}));
        expect_acts(session, "EACCES", at("w"), {"list @/dir", "read @/dir/deep/last"});
        // What stands beside a grant in a denied directory is hidden with it.
        expect_acts(session, "EACCES|ENOENT", at("w"), {"read @/dir/inner", "create @/dir/new"});
        expect_acts(session, "ok", at("w"), {"list @/dir/deep", "chdir @/dir/deep"});
    }
}

TEST_F(DenyRead, OnATieDenyWins) {
    Session session = open(denying({"dir", "file"}, {"dir", "file"}));
    expect_acts(session, "EACCES", at("w"), {"list @/dir", "read @/file"});
}

TEST_F(DenyRead, TheParentOfTheWorkspaceHidesItsSiblings) {
    Session session = open(denying({".."}, {"."}));
    const Ran ran = session.sh("pwd; ls; cat two");
    EXPECT_EQ(ran.code(), 0) << ran.err;
    expect_acts(session, "EACCES|ENOENT", at("o"), {"read @/file", "list @"});
    expect_acts(session, "EACCES", at(""), {"list @"});
}

TEST_F(DenyRead, WithAWriteDenyOnTheParentItStaysClosed) {
    for (const bool file : {true, false}) {
        SandboxPolicy policy = denying({file ? "file" : "dir"});
        policy.filesystem.deny_write = {"."};
        Session session = open(policy);
        expect_acts(session, "EACCES", at("w"), {file ? "read @/file" : "list @/dir"});
        expect_acts(session, "ok", at("w"), {"read @/two"});
    }
}

TEST_F(DenyRead, AWriteGrantInsideDoesNotOpenIt) {
    SandboxPolicy policy = denying({"../c/dir"});
    policy.filesystem.allow_write.emplace_back("../c/dir/deep");
    Session session = open(policy);
    expect_acts(session, "EACCES", at("c"),
                {"read @/dir/deep/last", "list @/dir/deep", "create @/dir/deep/new"});
}

TEST_F(DenyRead, AMissingPathIsRefusedWhenItAppears) {
    Session session = open(denying({"later", "../o/later"}));
    expect_acts(session, "EACCES", at("w"),
                {"create @/later", "mkdir @/later", "rename @/two @/later", "symlink x @/later"});
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo secret > o/later; mkdir w/later; echo secret > w/later/s");
    EXPECT_EQ(session.sh("cat ../o/later 2>&1").out.find("secret"), std::string::npos);
    EXPECT_EQ(session.sh("cat later/s 2>&1").out.find("secret"), std::string::npos);
    expect_changes({"+ o/later", "+ w/later", "+ w/later/s"});
}

TEST_F(DenyRead, WhatTheHostReplacesByRenameStaysClosed) {
    Session session = open(denying({"file"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo newer > w/file.tmp; mv w/file.tmp w/file");
    expect_acts(session, "EACCES", at("w"), {"read @/file", "read_handle @/file"});
    expect_changes({"~ w/file"});
}

TEST_F(DenyRead, HandlesOnTheWayOutLeadNowhere) {
    Session session = open(denying({"../o"}));
    const Ran ran = session.sh(
        "cd /proc/self/cwd/.. && cat o/file; ls /proc/self/cwd/../o; cat /proc/self/root" + at("o/file"));
    EXPECT_EQ(ran.out, "");
}

TEST_F(DenyRead, AnInputFromTheHostIsNoWayBack) {
    Session session = open(denying({"../o"}));
    // The caller hands over one file that the policy denies; nothing else comes with it.
    const Ran ran = session.run(session.shell("cat; cat /proc/self/fd/0/../two; ls /proc/self/fd/0/..")
                                    .input(Input::file(at("o/file"))));
    EXPECT_EQ(ran.out, "content of /file\n") << ran.err;
}

TEST_F(DenyRead, AnAliasOfADeniedFileGivesAWarning) {
    host("ln w/file w/alias");
    Session session = open(denying({"file"}));
    EXPECT_EQ(session.warnings().size(), 1u);
}

TEST_F(DenyRead, BracketsAreANameOfTheirOwnToo) {
    host("mkdir 'w/[WIP]'; echo x > 'w/[WIP]/f'");
    PathPattern literal("[WIP]");
    literal.literal = true;
    Session session = open(denying({literal}));
    expect_acts(session, "EACCES", at("w"), {"read @/[WIP]/f", "list @/[WIP]"});
    Session as_written = open(denying({"[WIP]"}));
    expect_acts(as_written, "EACCES", at("w"), {"read @/[WIP]/f", "list @/[WIP]"});
    Session tail = open(denying({"dir/**"}));
    expect_acts(tail, "EACCES", at("w"), {"read @/dir/inner", "list @/dir/deep"});
}

// To an ordinary user /root is such a place: what is there is nobody's business, and no reason not to start.
TEST_F(DenyRead, WhatNobodyHereCanReachStopsNoStart) {
    host("mkdir -p o/closed/in; echo x > o/closed/in/key; chmod 000 o/closed");
    SandboxPolicy policy = denying({"/root/.ssh/key", "/root/*.pem", "../o/closed/in/key"});
    policy.filesystem.deny_write = {"/root/.ssh/other"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("echo started").out, "started\n");
    expect_acts(session, "EACCES", at("o"), {"read @/closed/in/key"});
    expect_acts(session, "EACCES|ENOENT", at("o"), {"read /root/.ssh/key"});
    host("chmod 755 o/closed");
    seal();
    // The next command's start finds what has become reachable.
    expect_acts(session, "EACCES", at("o"), {"read @/closed/in/key"});
    expect_acts(session, "ok", at("o"), {"list @/closed/in"});
}

}  // namespace
}  // namespace sandpipe::testing
