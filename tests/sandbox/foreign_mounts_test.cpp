#include <unistd.h>

#include <cstdio>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// What else the host has mounted. The mounts are made in a namespace of their own, by an ordinary user together with
/// a user namespace, and sandpipe runs in that.
class ForeignMounts : public SandboxTest {
  protected:
    void in_namespace(const std::string& line) {
        write_file(at("script"), "set -e\n" + line + "\n");
        host(std::string("unshare -m") + (is_root() ? "" : "Ur") + " sh script");
    }
    [[nodiscard]] static std::string run(const std::string& options) {
        return test_program("sandpipe") + " run --quiet --workspace w " + options;
    }
};

TEST_F(ForeignMounts, WhatIsMountedTwiceIsDeniedTwice) {
    host("mkdir alias; echo x > w/a.pem");
    const std::string commands =
        "cat dir/inner ../alias/dir/inner ../alias/a.pem; echo x > ../alias/two; echo x > ../alias/new.pem; cat "
        "../alias/two";
    in_namespace(
        "mount --bind w alias\n" +
        run("--allow-write . --allow-write ../alias -c 'cat ../alias/dir/inner' > seen\n") +
        run("--allow-write . --allow-write ../alias --deny-read dir/inner --deny-read '*.pem' --deny-write two -c '" +
            commands + "' >> seen 2>errors"));
    host(
        "printf 'content of /dir/inner\\ncontent of /two\\n' | cmp - seen; grep -c 'Permission denied' errors | grep "
        "-x 5");
    host("test ! -e w/new.pem; grep -x 'content of /two' w/two > /dev/null");
}

// No capability is needed to write there, only root's id: these files are opened, never written.
TEST_F(ForeignMounts, TheKernelIsHiddenWhereverItIsMounted) {
    host("mkdir -p w/ch/proc w/ch/sys o/proc; touch w/hostname");
    write_file(at("w/open.py"),
               "import os\n"
               "for p in 'ch/proc/sys/kernel/core_pattern','ch/proc/version','ch/sys/power/state','ch/sys/class',"
               "'hostname','../o/proc/version','../o/proc/self/status':\n"
               "  for flags in os.O_RDONLY,os.O_WRONLY:\n"
               "    try: os.close(os.open(p,flags)); print(p,flags)\n"
               "    except OSError as e: pass\n");
    write_file(at("w/settings.py"),
               "import os\n"
               "for p in '/sys/power/state','/sys/kernel/mm/ksm/run','/sys/kernel/profiling','/proc/sys/vm/swappiness':\n"
               "  try: os.close(os.open(p,os.O_WRONLY)); print(p)\n"
               "  except OSError as e: pass\n");
    write_file(at("disabled"), R"({"filesystem": {"disabled": true}})");
    write_file(at("named"), R"({"filesystem": {"allowWrite": ["."], "allowRead": ["../o/proc"]}})");
    write_file(at("in-root"), R"({"filesystem": {"allowWrite": ["."], "allowRead": ["ch/proc"]}})");
    // An ordinary user may mount proc for processes of his own only, and sysfs not at all.
    const std::string mounts = is_root()
                                   ? "mount -t proc proc w/ch/proc; mount --bind /sys w/ch/sys; mount -t proc proc o/proc\n"
                                   : "mount --rbind /proc w/ch/proc; mount --rbind /sys w/ch/sys; mount --rbind /proc o/proc\n";
    in_namespace(mounts + "mount --bind /proc/sys/kernel/hostname w/hostname\n" +
                 "python3 -I -S w/open.py > outside; cd w; python3 -I -S open.py > ../outside; cd ..\n" +
                 run("--allow-write . -- /usr/bin/python3 -I -S open.py > seen\n") +
                 run("--settings disabled -- /usr/bin/python3 -I -S open.py >> seen\n") +
                 run("--settings disabled -- /usr/bin/python3 -I -S settings.py >> seen\n") +
                 run("--settings disabled -c 'cat /sys/kernel/profiling > /dev/null; echo x > new; rm new' >> seen\n") +
                 run("--settings named -c 'cat ../o/proc/version > /dev/null && echo shown' > named.seen\n") +
                 // What is shown in a root is read-only, so nobody looks for names in it.
                 test_program("sandpipe") + " run --workspace w --settings in-root"
                 " -c 'cat ch/proc/version > /dev/null && echo shown' >> named.seen 2> warnings\n");
    host("test $(grep -c . outside) -ge 7; cmp seen /dev/null; test $(grep -cx shown named.seen) -eq 2; cmp warnings /dev/null");
}

// By the other path of a root, or of a repository in it, what must not come there would come.
TEST_F(ForeignMounts, WhatIsAlwaysDeniedIsDeniedByEveryPath) {
    host("git init -q w && rm -f w/.git/hooks/*; mkdir w/self w/mirror w/hooks");
    in_namespace("mount --bind w/.git w/mirror; mount --bind w/.git/hooks w/hooks; mount --bind w w/self\n" +
                 run("--allow-write . -c 'echo x > self/.bashrc; mkdir -p self/.claude/commands; echo x > mirror/hooks/a;"
                     "echo x >> mirror/config; echo x > hooks/b; mkdir mirror/modules self/.vscode; echo x > self/new; "
                     "echo x > mirror/index' 2> errors; true\n"));
    host(
        "cd w; test -s new -a -s .git/index; for f in .bashrc .claude/commands .vscode .git/modules .git/hooks/a "
        ".git/hooks/b; do test ! -e $f; done; ! grep -x x .git/config");
}

// FUSE refuses all but the user who mounted it, root too; nobody has to serve it for that.
TEST_F(ForeignMounts, AFileSystemThatNobodyMayEnterStopsNoStart) {
    if (!is_root() || ::access("/dev/fuse", R_OK | W_OK) != 0) {
        std::printf("skipped: no /dev/fuse that this user may open on this machine\n");
        return;
    }
    host("mkdir w/dir/fuse");
    write_file(at("mount.py"),
               "import ctypes,os,subprocess,sys\n"
               "fd=os.open('/dev/fuse',os.O_RDWR)\n"
               "options='fd=%d,rootmode=40000,user_id=65533,group_id=65533'%fd\n"
               "assert ctypes.CDLL(None).mount(b'fuse',b'w/dir/fuse',b'fuse',0,options.encode())==0\n"
               "try: os.listdir('w/dir/fuse'); sys.exit('it can be entered')\n"
               "except PermissionError: pass\n"
               "sys.exit(subprocess.call(sys.argv[1:],pass_fds=(fd,)))\n");
    in_namespace("exec python3 -I -S mount.py " +
                 run("--allow-write . --deny-read 'dir/fuse/x' --deny-write '**/*.key' -c "
                     "'echo ran; ls dir/fuse || cat dir/inner' > seen 2>errors"));
    host("printf 'ran\\ncontent of /dir/inner\\n' | cmp - seen");
}

}  // namespace
}  // namespace sandpipe::testing
