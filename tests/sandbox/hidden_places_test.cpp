#include <fcntl.h>
#include <unistd.h>

#include <sandpipe/unique_fd.hpp>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// What one session's command does to hide a protected place from the search of the next, or to keep the next from
/// starting.
class HiddenPlaces : public SandboxTest {
  protected:
    void before(const std::string& line, const SandboxPolicy& policy) {
        Session session = open(policy);
        const Ran ran = session.sh(line);
        EXPECT_EQ(ran.code(), 0) << line << ": " << ran.err;
        session.close();
    }
    void before(const std::string& line) { before(line, writable()); }
    static bool warns_of(const Session& session, const std::string& text) {
        for (const std::string& warning : session.warnings())
            if (warning.find(text) != std::string::npos) return true;
        return false;
    }
    /// A submodule's repository that is not checked out.
    void module(const std::string& name) {
        host("git init -q w 2>/dev/null; git init -q made && rm -rf made/.git/hooks/* && mkdir -p w/.git/modules/" +
             name + " && rmdir w/.git/modules/" + name + " && mv made/.git w/.git/modules/" + name +
             " && rmdir made");
    }
};

const std::vector<std::string> kOpen{"create @/.git/hooks/pre-commit", "append @/.git/config",
                                     "rename @/.git/hooks @/.git/h",   "chmod @/.git/hooks",
                                     "rename @/.git @/g",              "unlink @/.git/config"};

TEST_F(HiddenPlaces, BelowADirectoryThatCannotBeListed) {
    ignore_below("w");
    for (const char* mode : {"311", "600", "000"}) {
        host("rm -rf w/sub w/other && mkdir w/other && git init -q w/sub && rm -f w/sub/.git/hooks/*");
        host(std::string("chmod ") + mode + " w/sub");
        Session session = open();
        EXPECT_EQ(warns_of(session, "nothing in " + at("w/sub") + " can be written"), !is_root()) << mode;
        const Ran ran = session.sh("chmod 755 sub");
        EXPECT_EQ(ran.code() == 0, is_root()) << mode;
        EXPECT_EQ(ran.denied().size(), is_root() ? 0U : 1U) << mode;
        expect_acts(session, "EACCES|EROFS", at("w/sub"), kOpen);
        expect_acts(session, "EACCES", at("w"), {"rename @/sub @/s2", "exchange @/sub @/other"});
        expect_acts(session, "ok", at("w/other"), {"create @/x", "chmod @/x", "mkdir @/d", "chmod @/d"});
        session.close();
        host("chmod 755 w/sub");
        Session next = open();
        expect_acts(next, "ok", at("w/sub"), {"create @/x"});
        expect_acts(next, "EACCES", at("w/sub"), kOpen);
        next.close();
    }
}

// Which sets the same bits. Whoever exchanges name, value or path while the call is judged changes nothing about it.
TEST_F(HiddenPlaces, NorDoesAnAccessControlListCloseIt) {
    ignore_below("w");
    host("mkdir w/sub w/other && git init -q w/sub");
    Session session = open();
    const std::string set =
        "import os, struct, sys\n"
        "def acl(owner): return struct.pack('<I', 2) + b''.join(struct.pack('<HHI', tag, rights, 0xffffffff)\n"
        "                                                       for tag, rights in ((1, owner), (4, 1), (0x20, 1)))\n"
        "for owner in 3, 6, 0, 5, 7:\n"
        "    for target in PATH, os.open(PATH, os.O_RDONLY):\n"
        "        try:\n"
        "            os.setxattr(target, 'system.posix_acl_access', acl(owner))\n"
        "            print(oct(os.stat(PATH).st_mode & 0o700))\n"
        "        except OSError as error: print(error.errno)\n"
        "    os.chmod(PATH, 0o755)\n";
    const auto tried = [&](const std::string& place) { return session.python("PATH = '" + place + "'\n" + set); };
    const Ran other = tried("other");
    if (other.out.starts_with("95")) GTEST_SKIP() << "no access control lists on this file system";
    EXPECT_EQ(other.out, "0o300\n0o300\n0o600\n0o600\n0o0\n0o0\n0o500\n0o500\n0o700\n0o700\n") << other.err;
    for (const char* place : {".", "sub", "sub/.git"}) {
        const Ran ran = tried(place);
        EXPECT_EQ(ran.out, "13\n13\n13\n13\n13\n13\n0o500\n0o500\n0o700\n0o700\n") << place << ran.err;
        EXPECT_EQ(ran.denied().size(), 6U) << place;
    }
}

TEST_F(HiddenPlaces, NorWhatIsMadeInItLater) {
    ignore_below("w");
    host("mkdir w/other");
    Session session = open();
    const std::string set =
        "import os, struct\n"
        "value = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', tag, rights, 0xffffffff)\n"
        "                                        for tag, rights in ((1, OWNER), (4, 0), (0x20, 0)))\n"
        "try:\n"
        "    os.setxattr(PATH, 'system.posix_acl_default', value)\n"
        "    print('ok')\n"
        "    os.removexattr(PATH, 'system.posix_acl_default')\n"
        "except OSError as error: print(error.errno)\n";
    const auto tried = [&](const std::string& place, const std::string& owner) {
        return session.python("PATH = '" + place + "'\nOWNER = " + owner + "\n" + set);
    };
    if (tried("other", "7").out.starts_with("95")) GTEST_SKIP() << "no access control lists on this file system";
    EXPECT_EQ(tried("other", "0").out, "ok\n") << "nothing is protected in it";
    EXPECT_EQ(tried(".", "7").out, "ok\n");
    for (const char* owner : {"0", "3", "5", "6"}) {
        const Ran closed = tried(".", owner);
        EXPECT_EQ(closed.out, "13\n") << owner << closed.err;
        EXPECT_EQ(closed.denied().size(), 1U) << owner;
    }
}

// As any other attribute is set, and said what is wrong with it.
TEST_F(HiddenPlaces, AttributesAreSetOnBehalf) {
    ignore_below("w");
    Session session = open();
    const Ran ran = session.python(
        "import os, errno\n"
        "def attempt(*arguments, **more):\n"
        "    try: os.setxattr(*arguments, **more); print('ok')\n"
        "    except OSError as error: print(errno.errorcode[error.errno])\n"
        "os.symlink('file', 'link')\n"
        "attempt('file', 'user.a', b'1')\n"
        "attempt('link', 'user.b', b'2' * 1000)\n"
        "attempt(os.open('file', os.O_RDONLY), 'user.c', b'')\n"
        "attempt('file', 'user.a', b'3', os.XATTR_CREATE)\n"
        "attempt('file', 'user.n', b'3', os.XATTR_REPLACE)\n"
        "attempt('link', 'user.d', b'4', follow_symlinks=False)\n"
        "attempt(os.open('file', os.O_PATH), 'user.e', b'5')\n"
        "attempt('file', 'user.' + 'x' * 300, b'6')\n"
        "attempt('file', '', b'6')\n"
        "attempt('file', 'trusted.x', b'6')\n"
        "attempt('file', 'user.f', b'6' * 65537)\n"
        "attempt('missing', 'user.g', b'7')\n"
        "print(sorted(os.listxattr('file')), os.getxattr('file', 'user.a'), len(os.getxattr('file', 'user.b')))\n");
    if (ran.out.starts_with("EOPNOTSUPP")) GTEST_SKIP() << "no attributes of users on this file system";
    EXPECT_EQ(ran.out,
              "ok\nok\nok\nEEXIST\nENODATA\nEPERM\nEBADF\nERANGE\nERANGE\nEPERM\nE2BIG\nENOENT\n"
              "['user.a', 'user.b', 'user.c'] b'1' 1000\n")
        << ran.err;
    EXPECT_EQ(ran.denied(), std::vector<std::string>{});
}

/// What a command may do to any other directory of its own.
TEST_F(HiddenPlaces, WhatHasAProtectedPlaceBelowStaysOpenToTheSearch) {
    ignore_below("w");
    host("mkdir w/sub w/other w/keys && touch w/keys/a.key && git init -q w/sub");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"**/*.key"};
    Session session = open(policy);
    for (const char* mode : {"311", "600", "000"}) {
        for (const char* place : {".", "sub", "sub/.git", "keys"}) {
            const Ran ran = session.sh(std::string("chmod ") + mode + " " + place);
            EXPECT_NE(ran.code(), 0) << mode << place;
            EXPECT_EQ(ran.denied().size(), 1U) << ran.story;
        }
        EXPECT_EQ(session.sh(std::string("chmod ") + mode + " other").code(), 0);
    }
    EXPECT_EQ(session.sh("chmod 700 sub keys sub/.git && chmod 755 sub keys sub/.git other").code(), 0);
}

// Git on the host takes what stands there for the repository of a submodule that it initializes, and runs its hooks.
TEST_F(HiddenPlaces, WhereThereAreNoSubmodulesTheirPlaceCannotBeMade) {
    ignore_below("w");
    host("git init -q w && git init -q w/sub && git init -q w/with && mkdir w/with/.git/modules");
    Session session = open();
    for (const char* place : {"w", "w/sub"}) {
        expect_acts(session, "EACCES", at(place), {"mkdir @/.git/modules"});
        EXPECT_NE(session.sh("mkdir m && mv m " + at(place) + "/.git/modules").code(), 0) << place;
    }
    expect_acts(session, "ok", at("w/with"), {"mkdir @/.git/modules/own"});
    expect_acts(session, "ok", at("w"), {"mkdir @/.git/other"});
}

TEST_F(HiddenPlaces, ARepositoryThatCannotBeEntered) {
    ignore_below("w");
    host("git init -q w && rm -f w/.git/hooks/*");
    host("chmod 600 w/.git");
    Session session = open();
    EXPECT_EQ(session.sh("chmod 755 .git").code() == 0, is_root());
    host("chmod 755 w/.git");
    expect_acts(session, "EACCES|EROFS", at("w"), kOpen);
    EXPECT_EQ(session.sh("echo x > .git/index").code() == 0, is_root());
    session.close();
    EXPECT_EQ(open().sh("echo x > .git/index").code(), 0);
}

TEST_F(HiddenPlaces, ARootThatCannotBeListedIsNotWritten) {
    ignore_below("w");
    host("git init -q w && rm -f w/.git/hooks/*");
    host("chmod 311 w");
    Session session = open();
    EXPECT_EQ(session.sh("echo x > file").code() == 0, is_root());
    expect_acts(session, "EACCES|EROFS", at("w"), kOpen);
    session.close();
    host("chmod 755 w");
    EXPECT_EQ(open().sh("echo x > file").code(), 0);
}

TEST_F(HiddenPlaces, WhatAGlobDeniesInADirectoryThatCannotBeListed) {
    ignore_below("w");
    host("mkdir w/sub w/other; echo secret > w/sub/a.key; echo free > w/other/a.txt");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"**/*.key"};
    host("chmod 311 w/sub");
    {
        Session session = open(policy);
        EXPECT_EQ(session.sh("chmod 755 sub").code() == 0, is_root());
        expect_acts(session, "EACCES|EROFS", at("w/sub"), {"write @/a.key", "unlink @/a.key", "chmod @/a.key"});
        expect_acts(session, "EACCES", at("w"), {"rename @/sub @/s2"});
        expect_acts(session, "ok", at("w/other"), {"write @/a.txt", "unlink @/a.txt"});
        session.close();
    }
    host("chmod 311 w/sub");
    policy.filesystem.deny_write = {};
    policy.filesystem.deny_read = {"**/*.key"};
    Session session = open(policy);
    expect_acts(session, "EACCES", at("w/sub"), {"read @/a.key", "write @/a.key", "read_handle @/a.key"});
    expect_acts(session, "ok", at("w"), {"read @/file"});
    session.close();
    host("chmod 755 w/sub");
}

TEST_F(HiddenPlaces, RepositoriesOfSubmodulesWithoutTheirSigns) {
    ignore_below("w");
    for (const char* name : {"s", "a/b", "libs/config", "libs/hooks", "libs/info"}) module(name);
    before(
        "cd .git/modules; for m in s a/b libs/config libs/hooks libs/info; do cd $m; "
        "mv HEAD H2; mv objects o2; mv refs r2; cd \"$OLDPWD\"; done; touch libs/HEAD HEAD config; mkdir "
        "libs/objects objects");
    Session session = open();
    for (const char* name : {"s", "a/b", "libs/config", "libs/hooks", "libs/info"}) {
        const std::string place = at("w/.git/modules/") + name;
        (void)session.sh("cd .git/modules/" + std::string(name) + " && mv H2 HEAD; mv o2 objects; mv r2 refs");
        expect_acts(session, "EACCES", place,
                    {"create @/hooks/post-checkout", "append @/config", "create @/commondir",
                     "rename @/hooks @/h", "rename @ @2"});
    }
    expect_acts(session, "ok", at("w/.git/modules/s"), {"create @/index.lock", "append @/HEAD"});
}

TEST_F(HiddenPlaces, RepositoriesOfSubmodulesWorkAsBefore) {
    ignore_below("w");
    for (const char* name : {"s", "a/b", "libs/config", "libs/hooks"}) module(name);
    Session session = open();
    for (const char* name : {"s", "a/b", "libs/config", "libs/hooks"}) {
        expect_acts(
            session, "ok", at("w/.git/modules/") + name,
            {"create @/index.lock", "mkdir @/objects/aa", "create @/refs/heads/config", "mkdir @/refs/heads/hooks"});
        expect_acts(session, "EACCES", at("w/.git/modules/") + name, {"create @/hooks/pre-commit", "write @/config"});
    }
    session.close();
    Session next = open();
    expect_acts(next, "ok", at("w/.git/modules/s"), {"append @/refs/heads/config", "create @/refs/heads/hooks/x"});
}

TEST_F(HiddenPlaces, ModulesThatCannotBeListed) {
    ignore_below("w");
    module("s");
    for (const char* place : {".git/modules", ".git/modules/s"}) {
        host(std::string("chmod 311 w/") + place);
        Session session = open();
        EXPECT_EQ(session.sh(std::string("chmod 755 ") + place).code() == 0, is_root());
        expect_acts(session, "EACCES|EROFS", at("w/.git/modules/s"),
                    {"create @/hooks/post-checkout", "append @/config"});
        expect_acts(session, "EACCES", at("w/.git"), {"rename @/modules @/m2"});
        session.close();
        host(std::string("chmod 755 w/") + place);
    }
    EXPECT_EQ(open().sh("echo x > .git/modules/s/index").code(), 0);
}

/// A linked worktree has the hooks and settings of a repository that is no `.git`.
TEST_F(HiddenPlaces, TheRepositoryOfALinkedWorktree) {
    ignore_below("w");
    host(
        "git init -q --bare w/store && rm -f w/store/hooks/* && git init -q t && git -C t -c user.name=a -c "
        "user.email=a@b "
        "commit -q --allow-empty -m x && git -C t push -q ../w/store HEAD:refs/heads/main && rm -rf t && "
        "git -C w/store worktree add -q ../tree main");
    Session session = open();
    expect_acts(
        session, "EACCES", at("w/store"),
        {"create @/hooks/post-checkout", "append @/config", "rename @ @2", "append @/worktrees/tree/commondir"});
    expect_acts(session, "ok", at("w"), {"create @/tree/x", "mkdir @/store/objects/aa"});
}

/// Its pointer cannot be found, so whatever looks like a repository is taken for one.
TEST_F(HiddenPlaces, TheRepositoryOfALinkedWorktreeThatCannotBeEntered) {
    ignore_below("w");
    host("git init -q --bare w/store && rm -f w/store/hooks/* && mkdir w/tree && "
         "echo 'gitdir: ../store/worktrees/tree' > w/tree/.git && chmod 000 w/tree && mkdir w/react w/react/hooks");
    before("mv store/HEAD store/H2; mv store/objects store/o2; mv store/refs store/r2");
    Session session = open();
    expect_acts(session, is_root() ? "ok" : "EACCES", at("w/store"),
                {"create @/hooks/post-checkout", "append @/config"});
    expect_acts(session, "ok", at("w"), {"create @/react/hooks/x"});
    session.close();
    host("chmod 755 w/tree");
}

TEST_F(HiddenPlaces, ABareRepositoryThatIsGrantedForItsWorktree) {
    ignore_below("w");
    ignore_below("o");
    host(
        "git init -q --bare o/store && rm -f o/store/hooks/* && git init -q t && git -C t -c user.name=a -c "
        "user.email=a@b "
        "commit -q --allow-empty -m x && git -C t push -q ../o/store HEAD:refs/heads/main && rm -rf t w && "
        "git -C o/store worktree add -q ../../w main");
    SandboxPolicy policy = writable();
    policy.filesystem.allow_git_worktree = true;
    Session session = open(policy);
    expect_acts(session, "EACCES", at("o/store"),
                {"create @/hooks/post-commit", "append @/config", "rename @/hooks @/h"});
    const Ran ran = session.sh("echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -qm y");
    EXPECT_EQ(ran.code(), 0) << ran.err;
}

/// The worktree itself is out of the session's sight.
TEST_F(HiddenPlaces, SubmodulesOfALinkedWorktree) {
    ignore_below("w");
    host("git init -q w && mkdir -p w/.git/worktrees/far && git init -q made && rm -f made/.git/hooks/* && "
         "mkdir w/.git/worktrees/far/modules && mv made/.git w/.git/worktrees/far/modules/sub && rmdir made");
    before("touch .git/worktrees/far/modules/HEAD");
    Session session = open();
    expect_acts(session, "EACCES", at("w/.git/worktrees/far/modules/sub"),
                {"create @/hooks/post-checkout", "append @/config", "rename @ @2"});
    expect_acts(session, "ok", at("w/.git/worktrees/far/modules/sub"), {"create @/index"});
}

TEST_F(HiddenPlaces, LinksWithoutAnEndStopNoSession) {
    ignore_below("w");
    before("mkdir a b c d e; ln -s .git/b a/.git; ln -s .mcp.json/b b/.mcp.json; ln -s .claude/b c/.claude; "
           "ln -s $(printf %04000d 0) d/.vscode; ln -s ../e/.idea/../.idea/x e/.idea; "
           "for i in $(seq 1 20); do mkdir l$i; ln -s ../l$((i + 1))/.bashrc/x l$i/.bashrc; done");
    Session session = open();
    EXPECT_EQ(session.sh("echo alive").out, "alive\n");
    expect_acts(session, "EACCES", at("w"),
                {"unlink @/a/.git", "unlink @/b/.mcp.json", "unlink @/c/.claude", "unlink @/d/.vscode",
                 "unlink @/l3/.bashrc", "rename @/two @/b/.mcp.json", "rename @/e @/f"});
    expect_acts(session, "ok", at("w"), {"create @/a/x", "create @/new"});
}

/// Made in a session whose policy did not deny these names.
TEST_F(HiddenPlaces, LinksInPlaceOfDeniedNamesStopNoSession) {
    ignore_below("w");
    before("ln -s secret secret; ln -s other/x other; ln -s $(printf %04000d 0) long; ln -s loop.key/x loop.key");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"secret", "other/y", "long", "**/*.key"};
    policy.filesystem.deny_write = {"other/z", "**/*.pem"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("echo alive").out, "alive\n");
    expect_acts(session, "EACCES", at("w"),
                {"unlink @/secret", "unlink @/other", "unlink @/long", "unlink @/loop.key"});
    host("rm w/secret && echo hidden > w/secret");
    expect_acts(session, "EACCES", at("w"), {"read @/secret"});
}

TEST_F(HiddenPlaces, TreesDeeperThanAnyPathStopNoSession) {
    ignore_below("w");
    host("cd w && python3 -c 'import os\nfor i in range(30):\n n=\"n\"*200\n os.mkdir(n)\n os.chdir(n)\n"
           "os.makedirs(\".git/hooks\")\nopen(\".mcp.json\",\"w\").close()\nopen(\"a.key\",\"w\").close()'");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"**/*.key"};
    for (const SandboxPolicy& each : {writable(), policy}) {
        Session session = open(each);
        EXPECT_TRUE(warns_of(session, "File name too long"));
        EXPECT_EQ(session.sh("echo alive > new && cat new").out, "alive\n");
        const Ran ran = session.python(
            "import os\nfor i in range(30): os.chdir('n'*200)\n"
            "for f in ('.git/hooks/x', '.mcp.json', 'y'):\n"
            "  try: open(f, 'w'); print('ok')\n  except OSError as e: print(e.strerror)\n");
        EXPECT_EQ(ran.out.find("ok"), std::string::npos) << ran.out;
        session.close();
    }
}

}  // namespace
}  // namespace sandpipe::testing
