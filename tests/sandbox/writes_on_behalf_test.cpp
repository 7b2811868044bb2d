#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// Files in the roots are opened for writing by the supervisor, here with the right to truncate too: a command must not see
/// a difference.
class WritesOnBehalf : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
    }
};

TEST_F(WritesOnBehalf, LookLikeAnyOthers) {
    const std::string program = R"(
import os, fcntl, errno
def attempt(name, act):
    try: result = act()
    except OSError as e: result = errno.errorcode[e.errno]
    print(name, result)
def flags(path, how):
    fd = os.open(path, how, 0o666)
    return fd > 2 and fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NOFOLLOW, fcntl.fcntl(fd, fcntl.F_GETFD)
os.umask(0o027)
os.mkdir('d'); open('d/f', 'w').write('0123456789')
os.symlink('f', 'd/l'); os.symlink('gone', 'd/dangling'); open('d/ro', 'w').close(); os.chmod('d/ro', 0o444)
for how in (os.O_WRONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_NONBLOCK, os.O_RDWR | os.O_SYNC,
            os.O_WRONLY | os.O_NOFOLLOW, os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.O_WRONLY | os.O_DIRECTORY, 3, os.O_RDONLY | os.O_CREAT):
    for path in ('d/f', 'd/l', 'd/dangling2/x', 'd', 'd/f/', 'd/ro', '/dev/null', '/proc/self/fd/1'):
        attempt(f'{how} {path}', lambda: flags(path, how))
attempt('truncate', lambda: (os.truncate('d/f', 4), os.stat('d/f').st_size))
attempt('truncate link', lambda: (os.truncate('d/l', 20), os.stat('d/f').st_size))
attempt('truncate directory', lambda: os.truncate('d', 4))
attempt('truncate negative', lambda: os.truncate('d/f', -1))
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (30, resource.RLIM_INFINITY))
attempt('truncate within the limit', lambda: (os.truncate('d/f', 30), os.stat('d/f').st_size))
attempt('truncate beyond the limit', lambda: os.truncate('d/f', 31))
child = os.fork()
if child == 0:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.truncate('d/f', 31)
    os._exit(0)
attempt('signal of the limit', lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
attempt('truncate back to the limit', lambda: (os.truncate('d/f', 20), os.stat('d/f').st_size))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
attempt('truncate missing', lambda: os.truncate('d/none', 1))
attempt('cut', lambda: (os.open('d/f', os.O_RDONLY | os.O_TRUNC) > 2, os.stat('d/f').st_size))
fd = os.open('d', os.O_TMPFILE | os.O_RDWR, 0o666)
attempt('unnamed', lambda: (oct(os.fstat(fd).st_mode), os.write(fd, b'abc')))
attempt('named', lambda: (os.link(f'/proc/self/fd/{fd}', 'd/named', follow_symlinks=True), open('d/named').read()))
gone = os.open('d/gone', os.O_RDWR | os.O_CREAT, 0o600); os.unlink('d/gone')
attempt('gone', lambda: os.write(os.open(f'/proc/self/fd/{gone}', os.O_WRONLY), b'x'))
m = os.memfd_create('m')
attempt('memfd', lambda: os.write(os.open(f'/proc/self/fd/{m}', os.O_WRONLY), b'x'))
r, w = os.pipe()
attempt('pipe', lambda: os.write(os.open(f'/proc/self/fd/{w}', os.O_WRONLY), b'x'))
attempt('below', lambda: os.open('f', os.O_WRONLY, dir_fd=os.open('d', os.O_RDONLY)) > 2)
attempt('content', lambda: open('d/f', 'a').write('tail'))
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def openat2(path, flags, mode, resolve):
    how = (ctypes.c_uint64 * 3)(flags, mode, resolve)
    fd = libc.syscall(437, -100, path, how, ctypes.c_size_t(24))
    return fd > 2 or errno.errorcode[ctypes.get_errno()]
for flags in os.O_WRONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | 1 << 40, os.O_WRONLY | 1 << 30, os.O_RDWR | os.O_PATH, os.O_RDONLY | os.O_TRUNC:
    for mode in 0, 0o600, 0o10600, 1 << 40:
        for resolve in 0, 4, 8, 1 << 20:
            for path in b'd/f', b'd/l', b'd/none/x', b'd':
                attempt(f'openat2 {flags:o} {mode:o} {resolve} {path}', lambda: openat2(path, flags, mode, resolve))
)";
    SandboxPolicy policy = writable();
    policy.filesystem.allow_git_init = true;
    policy.filesystem.allow_write.emplace_back("../c");
    Session plain = open(writable({".", "../c"}));
    Session making_one = open(policy);
    const Ran expected = plain.python(program);
    host("rm -rf w/d");
    const Ran ran = making_one.python(program);
    EXPECT_EQ(ran.out, expected.out) << ran.err;
    EXPECT_EQ(ran.err, expected.err);
    EXPECT_TRUE(ran.denied() == expected.denied());
}

/// Nobody can say the name of what lies so deep, and a descriptor says none: by one it is refused as by a path.
TEST_F(WritesOnBehalf, WhatIsFoundByADescriptorHasANameHoweverLong) {
    host("mkdir w/d");
    const std::string program = R"(
import errno, os
def attempt(name, act):
    try: act(); result = 'ok'
    except OSError as e: result = errno.errorcode[e.errno]
    print(name, result)
def enter(name):
    os.makedirs(name, exist_ok=True); os.chdir(name)
def link(f):
    os.link(f'/proc/self/fd/{f}', 'other', dst_dir_fd=top, follow_symlinks=True); os.unlink('other', dir_fd=top)
top = os.open('.', os.O_RDONLY)
print('ready', flush=True)
input()
enter('deep')
for i in range(20): enter('n' * 220)
os.rename('d', 'd', src_dir_fd=top)
for name in 'd/a.key', 'd/a.txt':
    f = os.open(name, os.O_RDONLY | os.O_CREAT)
    attempt(name, lambda: os.open(name, os.O_RDWR))
    os.symlink(os.path.basename(name), 'd/link')
    attempt('by a link', lambda: os.open('d/link', os.O_RDWR))
    os.unlink('d/link')
    attempt('its link', lambda: os.open(f'/proc/self/fd/{f}', os.O_RDWR))
    attempt('chmod', lambda: os.fchmod(f, 0o666))
    attempt('truncate', lambda: os.truncate(f'/proc/self/fd/{f}', 0))
    attempt('link', lambda: link(f))
attempt('directory', lambda: os.fchmod(os.open('d', os.O_RDONLY), 0o700))
os.rename('d', 'd', dst_dir_fd=top)
)";
    const auto lines = [](const std::string& first, const std::string& others) {
        std::string text = "ready\n";
        for (const char* name : {"d/a.key ", "d/a.txt "}) {
            for (const char* way : {name, "by a link "}) text += way + (name[4] == 'k' ? first : "ok") + "\n";
            for (const char* way : {"its link ", "chmod ", "truncate ", "link "}) text += way + others + "\n";
        }
        return text + "directory ok\n";
    };
    SandboxPolicy denying = writable();
    denying.filesystem.deny_write = {"**/*.key"};
    Session session = open(denying);
    Running running = session.start(Session::python_command(program).input(Input::stream()));
    running.await_output("ready");
    host("echo secret > w/d/a.key");
    running.write("go\n");
    const Ran ran = running.finish();
    EXPECT_EQ(ran.out, lines("EACCES", "ENAMETOOLONG")) << ran.err;
    EXPECT_EQ(read_file(at("w/d/a.key")), "secret\n");
    host("rm -rf w/deep");
    Session plain = open();
    const Ran allowed = plain.run(Session::python_command(program).input(Input::bytes("go\n")));
    EXPECT_EQ(allowed.out, lines("ok", "ok")) << allowed.err;
}

}  // namespace
}  // namespace sandpipe::testing
