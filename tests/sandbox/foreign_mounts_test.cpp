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
