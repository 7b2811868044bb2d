#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <sandpipe/srt_enforcer.hpp>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

const std::string kLoader = "/lib64/ld-linux-x86-64.so.2";

class Execute : public SandboxTest {
  protected:
    SandboxPolicy only(std::vector<PathPattern> programs) {
        SandboxPolicy policy = writable({".", "../c"});
        policy.filesystem.restrict_execute = true;
        policy.filesystem.allow_execute = std::move(programs);
        return policy;
    }
    static bool has_loader() {
        const bool there = ::access(kLoader.c_str(), X_OK) == 0;
        if (!there) std::printf("skipped: no %s on this machine\n", kLoader.c_str());
        return there;
    }
};

TEST_F(Execute, OnlyWhatIsListedAndTheShell) {
    host("cp /bin/true w/prog; cp /bin/true c/prog; chmod 755 w/prog c/prog");
    Session free = open(writable());
    EXPECT_EQ(free.sh("/usr/bin/id >/dev/null && ./prog && /usr/bin/ls >/dev/null").code(), 0);
    Session session = open(only({"/usr/bin/ls"}));
    EXPECT_EQ(session.sh("ls -d . && type echo > /dev/null").out, ".\n");
    const Ran ran = session.sh("/usr/bin/id; echo $?; ./prog; echo $?");
    EXPECT_EQ(ran.out, "126\n126\n") << ran.err;
    EXPECT_EQ(ran.denied(),
              (std::vector<std::string>{"exec /usr/bin/id EACCES", "exec " + at("w/prog") + " EACCES"}));
    EXPECT_EQ(ran.result.denials[0].kind, DenialKind::exec);
    EXPECT_EQ(ran.result.denials[0].rule, "allowExecute");
}

TEST_F(Execute, AProgramThatIsNotListedIsNoStart) {
    Session session = open(only({"/usr/bin/ls"}));
    const Ran ran = session.run(command("/usr/bin/id"));
    EXPECT_EQ(ran.result.cause, Cause::not_started);
    const auto* failure = std::get_if<NotStarted>(&ran.result.status);
    ASSERT_NE(failure, nullptr);
    EXPECT_EQ(to_string(failure->stage), "permission");
    EXPECT_EQ(ran.result.denials.size(), 1U);
    EXPECT_EQ(session.run(command("/usr/bin/ls").args("-d", ".")).out, ".\n");
    EXPECT_EQ(session.run(command("ls").args("-d", ".")).out, ".\n");
}

TEST_F(Execute, EverySpellingAndBothOrders) {
    host(
        "cp /bin/true w/prog; chmod 755 w/prog; ln -s prog w/link; ln w/prog w/dir/second; mkdir w/bin;"
        "cp /bin/true w/bin/inner; ln -s /usr/bin/id w/bin/out");
    const std::string act_program = test_program("attack_act");
    for (const bool reversed : {false, true}) {
        std::vector<PathPattern> programs{"bin", "/usr/../bin/true", PathPattern(act_program)};
        if (reversed) std::reverse(programs.begin(), programs.end());
        Session session = open(only(programs));
        expect_acts(
            session, "EACCES", at("w"),
            {"exec @/prog", "exec @/link", "exec prog", "exec @/../w//prog", "exec /proc/self/cwd/prog",
             "exec /proc/self/root@/prog", "exec @/bin/out", "exec /bin/sh", "exec @/dir/second"});
        expect_acts(session, "ok", at("w"),
                    {"exec @/bin/inner", "exec bin/inner", "exec /proc/self/cwd/bin/inner", "exec /bin/true",
                     "exec /usr/bin/true"});
    }
}

TEST_F(Execute, TheLoaderStartsNothingElse) {
    if (!has_loader()) return;
    host("cp /bin/true w/prog; chmod 755 w/prog; cp /bin/true w/two.so");
    Session free = open(writable());
    EXPECT_EQ(free.sh(kLoader + " /usr/bin/id > /dev/null && " + kLoader + " ./prog").code(), 0);
    Session session = open(only({"/usr/bin/ls"}));
    const Ran ran =
        session.sh(kLoader + " /usr/bin/id; echo $?; " + kLoader + " ./prog; echo $?; " + kLoader +
                   " /usr/bin/ls -d .; LD_PRELOAD=" + at("w/two.so") + " ls -d .; LD_LIBRARY_PATH=. ls -d .");
    EXPECT_EQ(ran.out, "127\n127\n.\n.\n.\n") << ran.err;
    EXPECT_EQ(ran.denied(),
              (std::vector<std::string>{"mmap /usr/bin/id EACCES", "mmap " + at("w/prog") + " EACCES",
                                        "mmap " + at("w/two.so") + " EACCES"}));
}

TEST_F(Execute, WritablePlacesAreNoexec) {
    Session session = open(only({"/usr/bin/python3", "/usr/bin/cp"}));
    const std::string python =
        "import mmap,os,shutil\n"
        "for d in ('.', '/tmp', '/dev/shm', '../c'):\n"
        "    shutil.copy('/usr/bin/true', d + '/x'); os.chmod(d + '/x', 0o755)\n"
        "    f = os.open(d + '/x', os.O_RDONLY)\n"
        "    try: mmap.mmap(f, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC); "
        "print('mapped')\n"
        "    except OSError as e: print(e.errno)\n"
        "    m = mmap.mmap(f, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)\n"
        "    try: os.execv(d + '/x', ['x'])\n"
        "    except OSError as e: print(e.errno)\n"
        "    os.unlink(d + '/x')\n"
        "try: os.memfd_create('x')\n"
        "except OSError as e: print(e.errno)\n"
        "print('end')\n";
    const Ran ran = session.python(python);
    EXPECT_EQ(ran.out, "13\n13\n13\n13\n13\n13\n13\n13\n38\nend\n") << ran.err;
    const Ran fine = session.python("import ctypes, ssl, json; print(json.dumps(1))");
    EXPECT_EQ(fine.out, "1\n") << fine.err;
}

TEST_F(Execute, WhatIsListedInTheWorkspaceRuns) {
    host(
        "cp /bin/true w/prog; chmod 755 w/prog; printf '#!/bin/sh\\necho script\\n' > w/script; chmod 755 "
        "w/script");
    Session session = open(only({"prog", "script"}));
    EXPECT_EQ(session.sh("./prog && echo ran").out, "ran\n");
    EXPECT_EQ(session.enforcer()->enforcement().find("execution")->enforced, Enforced::full);
    const auto& warnings = session.warnings();
    const auto says = [&](const std::string& text) {
        return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
            return warning.find(text) != std::string::npos;
        });
    };
    EXPECT_TRUE(says("is a script of /bin/sh, which allowExecute does not list"));
    EXPECT_TRUE(says("commands can write " + at("w/prog")));
    Session with_shell = open(only({"script", "/bin/sh"}));
    EXPECT_EQ(with_shell.sh("./script").out, "script\n");
}

// For the kernel a listed program is a file and not a name.
TEST_F(Execute, AListedFileThatIsReplacedIsNoneAndSaysSo) {
    ignore_below("w");
    host("cp /bin/true w/tool; cp /bin/true w/evil; cp /bin/true w/dir/tool; cp /bin/true w/dir/evil");
    Session session = open(only({"tool", "/bin/mv", "/bin/cp", "dir", "dir/tool"}));
    bool warned = false;
    for (const std::string& warning : session.warnings())
        warned = warned || warning == "allowExecute dir: commands can write " + at("w/dir") + ", and so execute any program";
    EXPECT_TRUE(warned);
    EXPECT_EQ(session.sh("./tool && dir/tool").code(), 0);
    EXPECT_EQ(session.sh("/bin/cp evil tool && ./tool && /bin/mv dir/evil dir/tool && dir/tool").code(), 0);
    const Ran ran = session.sh("/bin/mv evil tool && ./tool");
    EXPECT_EQ(ran.code(), 126) << ran.err;
    EXPECT_EQ(ran.denied(), std::vector<std::string>{"exec " + at("w/tool") + " EACCES"});
}

TEST_F(Execute, AScriptNeedsItsInterpreterToo) {
    host(
        "printf '#!/bin/sh\\necho script\\n' > w/script; printf '#!%s -x\\n' \"$PWD/w/script\" > w/nested; chmod 755 "
        "w/script "
        "w/nested; cp w/script w/plain; chmod 644 w/plain; printf '#!/none/such\\n' > w/lost; chmod 755 w/lost");
    Session session = open(only({"script", "nested", "plain", "lost"}));
    const std::string shell = std::filesystem::canonical("/bin/sh").string();
    for (const char* name : {"script", "nested"}) {
        const Ran ran = session.sh(std::string("./") + name);
        EXPECT_EQ(ran.code(), 126) << ran.err;
        EXPECT_EQ(ran.denied(), (std::vector<std::string>{"exec " + shell + " EACCES"})) << name;
        ASSERT_EQ(ran.result.denials.size(), 1U);
        EXPECT_EQ(ran.result.denials[0].kind, DenialKind::exec);
        EXPECT_EQ(ran.result.denials[0].path, "/bin/sh");
        EXPECT_EQ(ran.result.denials[0].rule, "allowExecute (interpreter of " + at("w/script") + ")");
    }
    // What could not be started anyway is no denial.
    for (const char* name : {"plain", "lost"}) {
        const Ran ran = session.sh(std::string("./") + name);
        EXPECT_NE(ran.code(), 0);
        EXPECT_EQ(ran.denied(), std::vector<std::string>{}) << name;
    }
    Session with_shell = open(only({"script", "nested", "/bin/sh"}));
    const Ran ran = with_shell.sh("./script; ./nested");
    EXPECT_EQ(ran.out, "script\nscript\n") << ran.err;
    EXPECT_EQ(ran.denied(), std::vector<std::string>{});
}

TEST_F(Execute, AnInterpreterThatCannotBeReadStartsNoScript) {
    host("cp /bin/sh w/shell; printf '#!%s\\necho script\\n' \"$PWD/w/shell\" > w/script; chmod 755 w/script");
    SandboxPolicy policy = writable();
    EXPECT_EQ(open(policy).sh("./script").out, "script\n");
    policy.filesystem.deny_read = {"shell"};
    const Ran ran = open(policy).sh("./script");
    EXPECT_EQ(ran.code(), 126) << ran.err;
    EXPECT_EQ(ran.denied(), (std::vector<std::string>{"exec " + at("w/shell") + " EACCES"}));
}

TEST_F(Execute, AnEmptyListIsTheShellAlone) {
    Session session = open(only({}));
    EXPECT_EQ(session.sh("echo builtins; cd dir; [ -e inner ] && echo work").out, "builtins\nwork\n");
    EXPECT_EQ(session.sh("ls").code(), 126);
}

TEST_F(Execute, GlobsAreAboutWhatExists) {
    host("for n in a1 a2 b1; do cp /bin/true w/$n; chmod 755 w/$n; done");
    Session session = open(only({"a?", "/usr/bin/l[s]"}));
    EXPECT_EQ(session.sh("./a1; echo $?; ./a2; echo $?; ./b1; echo $?; ls -d .; cat /dev/null; echo $?").out,
              "0\n0\n126\n.\n126\n");
}

TEST_F(Execute, ADeniedReadStaysDenied) {
    SandboxPolicy policy = only({"/usr/bin/ls", "dir"});
    host("cp /bin/true w/dir/prog; chmod 755 w/dir/prog");
    policy.filesystem.deny_read = {"dir/prog"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("dir/prog; echo $?").out, "126\n");
}

}  // namespace
}  // namespace sandpipe::testing
