#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Acts = std::vector<std::string>;

class Writes : public SandboxTest {};

// In an order in which each finds what it needs.
const Acts kOnContent{"write @/file",        "readwrite @/file",   "append @/file",  "access3 @/file",
                      "cut @/file",          "overwrite @/file",   "creat @/file",   "openat2 @/file",
                      "write_handle @/file", "write_below @ file", "truncate @/file"};
const Acts kOnNames{"create @/n1",
                    "create_read @/n2",
                    "openat2_create @/n3",
                    "create_below @ n4",
                    "mkdir @/n5",
                    "fifo @/n6",
                    "node @/n7",
                    "symlink nowhere @/n8",
                    "link @/file @/n9",
                    "rename @/two @/n10",
                    "exchange @/file @/n10",
                    "rename @/dir @/n11",
                    "exchange @/n11 @/file",
                    "unlink @/file/inner",
                    "rmdir @/empty",
                    "unlink @/n10"};
const Acts kOnAttributes{"chmod @/file",    "chown @/file",    "utimes @/file",
                         "setxattr @/file", "chmod @/dir",     "utimes_fd @/dir",
                         "chmod_fd @/file", "chown_fd @/file", "setxattr_fd @/file"};

TEST_F(Writes, OutsideTheRootsEveryActFailsWithErofs) {
    ignore_below("c");
    Session session = open(writable({".", "../c"}));
    // The second of these acts are about what an earlier one made, so they differ between the two places.
    Acts on_names = kOnNames;
    expect_acts(session, "ok", at("c"), kOnAttributes);
    expect_acts(session, "ok", at("c"), kOnContent);
    expect_acts(session, "ok", at("c"), on_names);
    expect_acts(session, "EROFS", at("o"), kOnAttributes);
    expect_acts(session, "EROFS", at("o"), kOnContent);
    expect_acts(session, "EROFS", at("o"),
                {"create @/n1", "create_read @/n2", "openat2_create @/n3", "create_below @ n4", "mkdir @/n5",
                 "fifo @/n6", "node @/n7", "symlink nowhere @/n8", "link @/file @/n9", "rename @/two @/n10",
                 "exchange @/file @/two", "rename @/dir @/n11", "unlink @/dir/inner", "rmdir @/empty",
                 "unlink @/two"});
    expect_acts(session, "EROFS|EOPNOTSUPP|EACCES", at("o"), {"unnamed @"});
}

TEST_F(Writes, AnOpenHowOfANewerKernelIsTakenWhereItAsksForNothingNew) {
    expect_changes({"+ w/n1"});
    Session session = open();
    expect_acts(session, "ok", at("w"), {"longer_openat2_create @/n1", "longer_openat2_create @/file"});
    expect_acts(session, "E2BIG", at("w"), {"unknown_openat2_create @/n2", "unknown_openat2_create @/file"});
    const Ran ran = session.attack("attack_act", {"longer_openat2_create", at("o/n1")});
    EXPECT_EQ(ran.out, "EROFS\n");
    EXPECT_EQ(ran.denied(), std::vector<std::string>{"open " + at("o/n1") + " EROFS"});
}

TEST_F(Writes, AHandleThatOnlyStandsForAPathChangesNoMode) {
    ignore_below("w");
    Session session = open();
    expect_acts(session, "EBADF", at("w"), {"chmod_handle @/file", "chmod_handle @/dir"});
    expect_acts(session, "ok", at("w"), {"chmod_fd @/file", "chmod_fd @/dir"});
}

TEST_F(Writes, ReadingOutsideTheRootsWorks) {
    Session session = open();
    expect_acts(
        session, "ok", at("o"),
        {"read @/file", "list @", "chdir @", "stat @/file", "read_handle @/file", "read_below @ file"});
}

TEST_F(Writes, NothingCrossesTheBorder) {
    expect_changes({"+ w/copy"});
    Session session = open();
    expect_acts(session, "EROFS|EXDEV", at(""),
                {"link @o/file @w/taken", "rename @o/file @w/taken", "rename @w/file @o/given",
                 "exchange @w/file @o/file", "link @w/file @o/given", "rename @w/dir @o/dir2"});
    EXPECT_EQ(session.sh("cat ../o/file > copy").code(), 0);
}

TEST_F(Writes, WithoutAGrantNothingIsWritable) {
    Session session = open(SandboxPolicy{});
    expect_acts(session, "EROFS", at("w"), {"create @/n", "write @/file", "mkdir @/d", "unlink @/file"});
}

TEST_F(Writes, SystemPlacesAreClosedForRootToo) {
    Session session = open();
    expect_acts(session, "EROFS", "/",
                {"create @etc/sandpipe-attack", "create @usr/sandpipe-attack", "create @root-attack",
                 "mkdir @opt/attack", "create @var/tmp/sandpipe-attack", "append @etc/passwd",
                 "append @etc/hostname"});
}

TEST_F(Writes, AGrantOfAFileIsAGrantOfThatFileOnly) {
    ignore_below("o/file");
    Session session = open(writable({"../o/file"}));
    expect_acts(session, "ok", at("o"), {"write @/file", "append @/file", "truncate @/file"});
    expect_acts(session, "EROFS", at("o"), {"create @/file.new", "write @/two"});
    // Neither its removal nor its replacement: both are changes of the directory.
    const Ran ran = session.attack("attack_act", {"unlink", at("o/file"), "--", "rename", at("o/file"), at("o/moved"),
                                                  "--", "rename", "/tmp/none", at("o/file")});
    EXPECT_EQ(ran.out, "EROFS\nEROFS\nENOENT\n");
    EXPECT_EQ(ran.denied(),
              (std::vector<std::string>{"unlink " + at("o/file") + " EROFS", "rename " + at("o/file") + " EROFS"}));
    const Ran replaced = session.sh("echo x > /tmp/new; mv /tmp/new " + at("o/file") + "; rmdir /tmp");
    EXPECT_EQ(replaced.denied(), (std::vector<std::string>{"rename /tmp/new EROFS", "rmdir /tmp EROFS"}))
        << replaced.err;
    for (const Denial& denial : replaced.result.denials)
        EXPECT_EQ(denial.rule, "its name stands in a directory that is not writable");
}

TEST_F(Writes, ALinkThatAnEarlierCommandMadeGrantsNothing) {
    EXPECT_EQ(open().sh("ln -s ../o out && ln -s dir in").code(), 0);
    SandboxPolicy policy = writable({"out"});
    EXPECT_NE(refusal(policy).find("by the link " + at("w/out") + ", which a command may have made"), std::string::npos)
        << refusal(policy);
    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    Session session = open(policy);
    expect_acts(session, "EROFS", at("o"), {"create @/n", "append @/file"});
    policy.filesystem.allow_write = {"in", "../o/empty"};
    Session named = open(policy);
    expect_acts(named, "ok", at("w"), {"create @/dir/n", "create @/../o/empty/n"});
    expect_changes({"+ o/empty/n", "+ w/dir/n", "+ w/in", "+ w/out"});
}

TEST_F(Writes, LinksLeadWhereTheyLead) {
    host("ln -s ../o w/out; ln -s ../o/file w/out-file; ln -s ../o/new w/out-new; ln -s file w/in-file");
    Session session = open();
    expect_acts(
        session, "EROFS", at("w"),
        {"write @/out/file", "create @/out/n", "write @/out-file", "overwrite @/out-new", "chmod @/out-file",
         "truncate @/out-file", "write_handle @/out-file", "create_below @/out n"});
    ignore_below("w/file");
    expect_acts(session, "ok", at("w"), {"append @/in-file"});
}

TEST_F(Writes, RenamesBetweenDirectoriesOfOneGrantWork) {
    ignore_below("w");
    Session session = open();
    expect_acts(session, "ok", at("w"),
                {"rename @/file @/dir/moved", "link @/two @/dir/second", "rename @/dir/deep @/empty/deep",
                 "exchange @/two @/dir/moved"});
}

TEST_F(Writes, WhatIsMadeHasTheUsersMask) {
    ignore_below("w");
    Session session = open();
    const Ran ran =
        session.sh("umask 077; touch a; mkdir d; umask 002; touch b; stat -c %a a d b; stat -c %u:%g a");
    const std::string owner = std::to_string(::geteuid()) + ":" + std::to_string(::getegid());
    EXPECT_EQ(ran.out, "600\n700\n664\n" + owner + "\n") << ran.err;
}

TEST_F(Writes, HaveTheMaskOfWhoMakesThem) {
    const std::string program = R"(
import os, threading
def masks():
    name = os.urandom(8).hex()
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o777))
    os.mkdir(name + '.d')
    return {0o777 & ~os.stat(path).st_mode for path in (name, name + '.d')}
# Not by umask(2), after which each is looked at.
first = [int(line.split()[1], 8) for line in open('/proc/self/status') if line.startswith('Umask')]
print('first', masks() == set(first), flush=True)
child = os.fork()
if child == 0:
    os.umask(0o077)
    print('child', masks() == {0o077}, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print('parent', masks() == set(first))
thread = threading.Thread(target=lambda: os.umask(0o007)); thread.start(); thread.join()
print('thread', masks() == {0o007})
def flip():
    for i in range(2000): os.umask(0o022 if i % 2 else 0o077)
thread = threading.Thread(target=flip); thread.start()
seen = set()
while thread.is_alive(): seen |= masks()
print('flipped', seen <= {0o007, 0o022, 0o077})
os.umask(0o070); print('last', masks() == {0o070})
)";
    ignore_below("w");
    Session session = open();
    const Ran ran = session.python(program);
    EXPECT_EQ(ran.out, "first True\nchild True\nparent True\nthread True\nflipped True\nlast True\n") << ran.err;
    EXPECT_EQ(session.python(program.substr(0, program.find("child = "))).out, "first True\n") << "the next begins anew";
}

TEST_F(Writes, ASetUserIdBitGivesNothing) {
    ignore_below("w");
    Session session = open();
    const Ran ran =
        session.sh("cp /usr/bin/id i && chmod 4755 i; ./i -u; grep -E 'NoNewPrivs|CapEff' /proc/self/status");
    EXPECT_EQ(ran.out, std::to_string(::geteuid()) + "\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n")
        << ran.err;
}

TEST_F(Writes, DisabledSwitchesTheRulesOff) {
    expect_changes({"+ o/new"});
    SandboxPolicy policy;
    policy.filesystem.disabled = true;
    Session session = open(policy);
    expect_acts(session, "ok", at("o"), {"create @/new", "append @/file", "read @/file"});
    EXPECT_EQ(session.sh("cat /proc/net/dev | wc -l").out, "3\n");
}

TEST_F(Writes, AMissingGrantCanBeMadeOrSkipped) {
    SandboxPolicy policy = writable({".", "missing"});
    EXPECT_NE(refusal(policy).find("missing"), std::string::npos);
    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    Session skipped = open(policy);
    EXPECT_FALSE(skipped.warnings().empty());
    policy.filesystem.missing_allow_write = MissingAllowWrite::create;
    Session created = open(policy);
    expect_acts(created, "ok", at("w"), {"create @/missing/file"});
    expect_changes({"+ w/missing", "+ w/missing/file"});
}

// The kernel tells no path of more than PATH_MAX bytes, and rules hold there all the same.
TEST_F(Writes, BelowThePathsThatTheKernelTells) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"**/*.key"};
    ignore_below("w");
    Session session = open(policy);
    const Ran ran = session.python(
        "import os\n"
        "for i in range(30):\n"
        "  os.mkdir('n'*200); os.chdir('n'*200)\n"
        "def act(name, f):\n"
        "  try: f(); print(name, 'ok')\n"
        "  except OSError as e: print(name, os.strerror(e.errno))\n"
        "act('create', lambda: open('new','w').close())\n"
        "act('mkdir', lambda: os.mkdir('d'))\n"
        "act('rename', lambda: os.rename('new','d/moved'))\n"
        "act('link', lambda: os.link('d/moved','second'))\n"
        "act('symlink', lambda: os.symlink('second','third'))\n"
        "act('append', lambda: open('third','a').close())\n"
        "act('up', lambda: open('../above','w').close())\n"
        "act('denied', lambda: open('a.key','w').close())\n"
        "act('unlink', lambda: os.unlink('second'))\n");
    EXPECT_EQ(ran.out,
              "create ok\nmkdir ok\nrename ok\nlink ok\nsymlink ok\nappend ok\nup ok\ndenied Permission "
              "denied\nunlink ok\n")
        << ran.err;
    ASSERT_EQ(ran.result.denials.size(), 1U);
    EXPECT_EQ(ran.result.denials[0].rule, "denyWrite **/*.key");
    EXPECT_GT(ran.result.denials[0].resolved.size(), 4096U);
    EXPECT_EQ(session.sh("rm -rf nnn* && ls -A | grep -c nnn").out, "0\n");
}

}  // namespace
}  // namespace sandpipe::testing
