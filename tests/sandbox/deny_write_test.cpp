#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Acts = std::vector<std::string>;

class DenyWrite : public SandboxTest {
  protected:
    SandboxPolicy denying(std::vector<PathPattern> paths) {
        SandboxPolicy policy = writable({".", "../c"});
        policy.filesystem.deny_write = std::move(paths);
        return policy;
    }
};

const Acts kOnFileToBeKept{"write @/file",
                           "readwrite @/file",
                           "append @/file",
                           "access3 @/file",
                           "cut @/file",
                           "overwrite @/file",
                           "openat2 @/file",
                           "creat @/file",
                           "write_handle @/file",
                           "write_below @ file",
                           "truncate @/file",
                           "chmod @/file",
                           "chown @/file",
                           "utimes @/file",
                           "setxattr @/file",
                           "link @/file @/again",
                           "exchange @/file @/two",
                           "rename @/two @/file"};

TEST_F(DenyWrite, AnExistingFileCannotBeChangedByAnyAct) {
    ignore_below("c");
    Session session = open(denying({"file"}));
    expect_twins(session, "EACCES", at("w"), at("c"), kOnFileToBeKept);
    expect_acts(session, "EACCES", at("w"), {"rename @/file @/gone", "unlink @/file"});
    expect_twins(session, "EACCES|EROFS", at("w"), at("c"),
                 {"chmod_fd @/file", "utimes_fd @/file", "setxattr_fd @/file", "chown_fd @/file"});
    expect_acts(session, "ok", at("w"), {"read @/file", "stat @/file"});
}

TEST_F(DenyWrite, AnExistingDirectoryAndAllBelowCannotBeChanged) {
    ignore_below("c");
    Session session = open(denying({"dir"}));
    expect_twins(session, "EACCES", at("w"), at("c"),
                 {"write @/dir/inner", "create @/dir/n", "mkdir @/dir/d", "symlink x @/dir/l",
                  "link @/file @/dir/h", "append @/dir/deep/last", "chmod @/dir", "utimes @/dir/inner",
                  "create_below @/dir n2", "rename @/dir/inner @/out", "rename @/two @/dir/two",
                  "unlink @/dir/deep/last", "rmdir @/dir/deep", "rename @/dir @/dir2"});
    expect_acts(session, "ok", at("w"), {"list @/dir", "read @/dir/inner"});
}

TEST_F(DenyWrite, NoSpellingOfAPlaceGetsAround) {
    host("ln -s . w/loop; ln -s file w/to-file; ln -s new w/to-new; ln -s .. w/dir/up");
    Session session = open(denying({"file", "new"}));
    const std::string w = at("w");
    for (const char* name : {"file", "new"}) {
        const std::string n = name;
        expect_acts(session, "EACCES", w,
                    {"overwrite @/../w/" + n, "overwrite @//" + n, "overwrite @/./" + n,
                     "overwrite @/dir/../" + n, "overwrite @/loop/loop/" + n, "overwrite @/to-" + n,
                     "overwrite @/dir/up/" + n, "overwrite /proc/self/root@/" + n,
                     "overwrite /proc/self/cwd/" + n, "overwrite /proc/thread-self/root@/" + n,
                     "overwrite " + n, "overwrite ./" + n, "overwrite dir/../" + n, "create_below @ " + n,
                     "create_below @/dir ../" + n, "create_below /proc/self/root @/" + n,
                     "openat2_create @/loop/" + n, "creat /dev/fd/../cwd/" + n});
    }
    expect_acts(session, "EACCES", w,
                {"mkdir @/loop/new", "symlink x @//new", "link @/two /proc/self/cwd/new",
                 "rename @/two @/dir/../new", "fifo /proc/self/root@/new"});
    ignore_below("w/two");
    expect_acts(session, "ok", w, {"overwrite @/loop/two", "overwrite /proc/self/cwd/two"});
}

TEST_F(DenyWrite, OtherProcessesRootsAndDirectoriesLeadThereToo) {
    Session session = open(denying({"file", "new"}));
    const Ran ran = session.python(
        "import os,errno\n"
        "def tryit(p):\n"
        "  try: os.open(p, os.O_WRONLY|os.O_CREAT); return 'ok'\n"
        "  except OSError as e: return errno.errorcode[e.errno]\n"
        "r,w=os.pipe()\n"
        "pid=os.fork()\n"
        "if pid==0:\n"
        "  os.close(w); os.read(r,1); os._exit(0)\n"
        "d=os.getcwd()\n"
        "h=os.open('.', os.O_PATH)\n"
        "for n in 'file','new':\n"
        "  for p in "
        "'/proc/%d/root%s/%s'%(pid,d,n),'/proc/%d/cwd/%s'%(pid,n),'/proc/%d/fd/%d/%s'%(os.getpid(),h,n),"
        "'/proc/self/task/%d/cwd/%s'%(os.getpid(),n),'/proc/self/fd/%d/%s'%(h,n): print(tryit(p))\n");
    EXPECT_EQ(ran.out, "EACCES\nEACCES\nEACCES\nEACCES\nEACCES\nEACCES\nEACCES\nEACCES\nEACCES\nEACCES\n")
        << ran.err;
}

TEST_F(DenyWrite, TheInitsRootIsNoWayIn) {
    Session session = open(denying({"file"}));
    expect_acts(session, "EACCES", at("w"),
                {"write /proc/1/root@/file", "read /proc/1/root@/two", "read /proc/1/fd/0",
                 "read /proc/1/mem", "list /proc/1/cwd", "create /proc/1/cwd/new"});
}

TEST_F(DenyWrite, AMissingNameCannotBeMade) {
    ignore_below("c");
    Session session = open(denying({"new", "dir/new", "away/deep/new"}));
    const Acts make{"create @/new",         "create_read @/new", "mkdir @/new",       "fifo @/new",
                    "node @/new",           "symlink x @/new",   "link @/file @/new", "rename @/two @/new",
                    "openat2_create @/new", "create @/dir/new"};
    expect_acts(session, "EACCES", at("w"), make);
    for (const std::string& act : make) {
        expect_acts(session, "ok", at("c"), {act});
        host("rm -rf c/new c/dir/new; echo x > c/two");
    }
    ignore_below("w/away");
    expect_acts(session, "ok", at("w"), {"mkdir @/away", "mkdir @/away/deep", "create @/away/deep/other"});
    expect_acts(session, "EACCES", at("w"), {"create @/away/deep/new"});
}

TEST_F(DenyWrite, AncestorsCannotBeRenamedAway) {
    ignore_below("c");
    Session session = open(denying({"dir/deep/last"}));
    expect_acts(session, "EACCES|EBUSY", at("w"),
                {"rename @/dir @/dir2", "rename @/dir/deep @/deep2", "exchange @/dir @/empty",
                 "exchange @/empty @/dir", "exchange @/dir/deep @/empty"});
    expect_acts(session, "ok", at("c"), {"rename @/dir @/dir2", "exchange @/dir2 @/empty"});
    EXPECT_NE(session.sh("rm -rf dir/deep").code(), 0);
}

TEST_F(DenyWrite, AncestorsOfMissingNamesCannotBeExchanged) {
    host("mkdir -p w/forged/deep; echo evil > w/forged/deep/no; ln -s ../c w/link");
    Session session = open(denying({"made/deep/no", "dir/deep/no"}));
    expect_acts(session, "EACCES", at("w"),
                {"rename @/forged @/made", "exchange @/forged @/dir", "exchange @/dir @/forged",
                 "exchange @/forged/deep @/dir/deep", "symlink forged @/made", "rename @/link @/made",
                 "rename @/dir @/dir2"});
    ignore_below("w/empty");
    expect_acts(session, "ok", at("w"), {"rename @/forged/deep/no @/empty/no"});
    ignore_below("w/forged");
    ignore_below("w/made");
    expect_acts(session, "ok", at("w"), {"rename @/forged @/made"});
    expect_acts(session, "EACCES", at("w"), {"rename @/empty/no @/made/deep/no", "create @/made/deep/no"});
}

// The directory may be made; the file in it may come in no way, also not along with the directory.
TEST_F(DenyWrite, AFileInADirectoryThatDoesNotExist) {
    host("mkdir w/ready w/harmless && echo evil > w/ready/settings.json && ln -s ready w/to-ready");
    for (const char* made : {"w/ready", "w/harmless", "w/.agent"}) ignore_below(made);
    Session session = open(denying({".agent/settings.json"}));
    expect_acts(session, "EACCES", at("w"),
                {"rename @/ready @/.agent", "symlink ready @/.agent",
                 "symlink nowhere @/.agent", "rename @/to-ready @/.agent", "link @/to-ready @/.agent"});
    expect_acts(session, "ok", at("w"), {"mkdir @/.agent", "create @/.agent/other.json", "unlink @/.agent/other.json"});
    expect_acts(
        session, "EACCES", at("w"),
        {"create @/.agent/settings.json", "create_read @/.agent/settings.json",
         "openat2_create @/.agent/settings.json", "mkdir @/.agent/settings.json", "symlink x @/.agent/settings.json",
         "link @/two @/.agent/settings.json", "rename @/two @/.agent/settings.json", "fifo @/.agent/settings.json",
         "rename @/ready @/.agent", "exchange @/ready @/.agent", "exchange @/.agent @/ready",
         "create_below @/.agent settings.json", "overwrite /proc/self/cwd/.agent/settings.json"});
    expect_acts(session, "ok", at("w"), {"rename @/harmless @/harmless2", "rename @/harmless2 @/harmless"});
}

TEST_F(DenyWrite, NoHardLinkCrossesTheBorder) {
    Session session = open(denying({"file", "dir"}));
    expect_acts(session, "EACCES|EXDEV", at("w"),
                {"link @/file @/alias", "link @/dir/inner @/alias", "link @/two @/dir/alias",
                 "link /proc/self/root@/file @/alias"});
    const Ran ran = session.python(
        "import os\n"
        "f=os.open('file', os.O_RDONLY)\n"
        "try: os.link('/proc/self/fd/%d'%f, 'alias', follow_symlinks=True); print('linked')\n"
        "except OSError as e: print('refused')\n");
    EXPECT_EQ(ran.out, "refused\n") << ran.err;
}

TEST_F(DenyWrite, AnExistingSecondLinkGivesAWarning) {
    host("ln w/file w/alias");
    Session session = open(denying({"file"}));
    ASSERT_FALSE(session.warnings().empty());
    EXPECT_NE(session.warnings()[0].find("file"), std::string::npos);
    EXPECT_TRUE(open(denying({"two"})).warnings().empty());
}

TEST_F(DenyWrite, ADeniedLinkProtectsLinkAndTarget) {
    host("ln -s dir/inner w/link; ln -s /dev/null w/nowhere");
    Session session = open(denying({"link", "nowhere"}));
    expect_acts(
        session, "EACCES", at("w"),
        {"write @/link", "write @/dir/inner", "unlink @/link", "rename @/link @/l2", "rename @/two @/link"});
    expect_acts(session, "ok", at("w"), {"write /dev/null", "append @/nowhere", "read @/link"});
}

TEST_F(DenyWrite, AllOfAWorkspaceCanBeDenied) {
    Session session = open(denying({"."}));
    expect_acts(session, "EACCES", at("w"), {"create @/n", "write @/file", "mkdir @/d", "unlink @/file"});
}

TEST_F(DenyWrite, WhatTheHostRemovesStaysProtected) {
    Session session = open(denying({"file"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("rm w/file");
    EXPECT_EQ(session.sh("true").code(), 0);
    expect_acts(session, "EACCES", at("w"), {"create @/file", "mkdir @/file", "rename @/two @/file"});
    expect_changes({"- w/file"});
}

TEST_F(DenyWrite, WhatTheHostReplacesByRenameStaysProtected) {
    Session session = open(denying({"file"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo newer > w/file.tmp; mv w/file.tmp w/file");
    expect_acts(session, "EACCES|EROFS", at("w"),
                {"write @/file", "chmod @/file", "unlink @/file", "overwrite @/file", "utimes @/file",
                 "setxattr @/file"});
    expect_changes({"~ w/file"});
}

TEST_F(DenyWrite, WhatTheHostReplacesByRenameCannotBeChangedByADescriptor) {
    Session session = open(denying({"file"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo newer > w/file.tmp; mv w/file.tmp w/file");
    expect_acts(session, "EACCES|EROFS", at("w"),
                {"chmod_fd @/file", "utimes_fd @/file", "chown_fd @/file", "setxattr_fd @/file"});
    expect_changes({"~ w/file"});
}

TEST_F(DenyWrite, WhatTheHostMakesInADeniedPlaceIsProtected) {
    Session session = open(denying({"new", "newdir"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo x > w/new; mkdir w/newdir; echo x > w/newdir/f");
    expect_acts(session, "EACCES", at("w"),
                {"write @/new", "truncate @/new", "unlink @/new", "chmod @/new", "create @/newdir/n",
                 "write @/newdir/f"});
    expect_changes({"+ w/new", "+ w/newdir", "+ w/newdir/f"});
}

TEST_F(DenyWrite, WhatTheHostMakesInADeniedPlaceCannotBeChangedByADescriptor) {
    Session session = open(denying({"new"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo x > w/new");
    expect_acts(session, "EACCES|EROFS", at("w"),
                {"chmod_fd @/new", "utimes_fd @/new", "chown_fd @/new", "setxattr_fd @/new"});
    expect_changes({"+ w/new"});
}

TEST_F(DenyWrite, TheHostsOwnFilesInAProtectedDirectoryStayProtected) {
    Session session = open(denying({"dir"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo x > w/dir/later; mkdir w/dir/later-dir");
    expect_acts(session, "EACCES", at("w"),
                {"write @/dir/later", "create @/dir/later-dir/n", "unlink @/dir/later"});
    expect_changes({"+ w/dir/later", "+ w/dir/later-dir"});
}

TEST_F(DenyWrite, AReadOnlyWorkspaceStartsWithAMissingDeny) {
    host("chmod 555 w");
    Session session = open(denying({".x", "new"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("chmod 755 w");
    seal();
}

TEST_F(DenyWrite, OrderDoesNotMatter) {
    for (const bool reversed : {false, true}) {
        SandboxPolicy policy = denying(reversed ? std::vector<PathPattern>{"dir/new", "dir", "."}
                                                : std::vector<PathPattern>{".", "dir", "dir/new"});
        Session session = open(policy);
        expect_acts(session, "EACCES", at("w"), {"create @/dir/new", "write @/dir/inner", "write @/file"});
    }
}

}  // namespace
}  // namespace sandpipe::testing
