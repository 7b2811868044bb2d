#include <fstream>
#include <string>
#include <vector>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// Calls that a supervisor judges or carries out do what they do outside, and fail with the same errno.
class SameAsOutside : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
    }

    /// The program prints a line for each try. Outside it runs in `c`, without capabilities too.
    void expect_same(Session& session, const std::string& program, std::size_t tries) {
        const Ran ran = session.run(
            command("/usr/bin/python3").args("-I", "-S", program).out(Output::file(at("w/got"), FileMode::truncate)));
        ASSERT_EQ(ran.code(), 0) << ran.err;
        const std::vector<std::string> got = lines_of(at("w/got"));
        const std::vector<std::string> expected = lines_of(at("expected"));
        ASSERT_EQ(got.size(), expected.size());
        EXPECT_GT(got.size(), tries);
        int differing = 0;
        for (std::size_t i = 0; i < got.size() && differing < 10; ++i)
            if (got[i] != expected[i]) ++differing, ADD_FAILURE() << got[i] << "\noutside: " << expected[i];
        EXPECT_EQ(ran.denied(), std::vector<std::string>{});
    }
    void run_outside(const std::string& name, const char* program) {
        std::ofstream(at("w/" + name)) << program;
        host("cd c && setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- python3 -I -S ../w/" + name +
             " > ../expected && rm -rf d");
    }

  private:
    static std::vector<std::string> lines_of(const std::string& path) {
        std::ifstream text(path);
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }
};

// Opens every kind of path with every set of flags, and prints what came of it and what is in the directory then.
constexpr const char* kEveryFlag = R"(
import errno, fcntl, itertools, os, shutil, stat
os.umask(0o027)
def make():
    shutil.rmtree('d', ignore_errors=True)
    os.makedirs('d/dir')
    with open('d/f', 'w') as f: f.write('text')
    for link, to in ('l', 'f'), ('dangling', 'gone'), ('chain', 'dangling'), ('loop', 'loop'), ('up', 'dir/../dangling'), ('to-dir', 'dir'):
        os.symlink(to, 'd/' + link)
    os.mkfifo('d/fifo')
    os.mknod('d/socket', stat.S_IFSOCK | 0o644)
def content():
    found = []
    for name in sorted(os.listdir('d')):
        s = os.lstat('d/' + name)
        found.append(f'{name} {oct(s.st_mode)} {s.st_size if stat.S_ISREG(s.st_mode) else 0}')
    return found
make()
before = content()
paths = 'f', './f/', 'dir', 'dir/', '.', 'l', 'l/', 'dangling', 'chain', 'up', 'loop', 'to-dir', 'none', 'none/x', 'none/', 'f/x', 'dir/../none', 'fifo', 'socket'
flags = os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_NOFOLLOW, os.O_DIRECTORY, os.O_PATH, os.O_TMPFILE & ~os.O_DIRECTORY
for path in paths:
    for access in range(4):
        for chosen in itertools.product((0, 1), repeat=len(flags)):
            how = access | os.O_NONBLOCK | sum(f for f, c in zip(flags, chosen) if c)
            try:
                fd = os.open('d/' + path, how, 0o6666)
                s = os.fstat(fd)
                result = f'{oct(fcntl.fcntl(fd, fcntl.F_GETFL))} {oct(s.st_mode)} {s.st_nlink}'
                os.close(fd)
            except OSError as e:
                result = errno.errorcode[e.errno]
            after = content()
            print(path, oct(how), result, [x for x in after if x not in before])
            if after != before: make()
)";

TEST_F(SameAsOutside, OpenWithEverySetOfFlags) {
    run_outside("every_flag.py", kEveryFlag);
    Session session = open();
    expect_same(session, "every_flag.py", 9000);
}

// The same for the calls that make, move and remove names, and change what stands there.
constexpr const char* kEveryName = R"(
import ctypes, errno, os, shutil, stat
os.umask(0o027)
libc = ctypes.CDLL(None, use_errno=True)
def make():
    shutil.rmtree('d', ignore_errors=True)
    os.makedirs('d/dir/sub'); os.makedirs('d/empty'); os.makedirs('d/other')
    for f in 'f', 'dir/g', 'other/h':
        with open('d/' + f, 'w') as file: file.write('text')
    for link, to in ('l', 'f'), ('dangling', 'gone'), ('loop', 'loop'), ('to-dir', 'dir'): os.symlink(to, 'd/' + link)
    os.mkfifo('d/fifo')
    return {os.lstat(p).st_ino: p for p in walk()}
def walk():
    return sorted([os.path.join(r, n) for r, ds, fs in os.walk('d') for n in ds + fs] + ['d'])
def content():
    found = []
    for p in walk():
        s = os.lstat(p)
        old = inodes.get(s.st_ino)
        found.append(f'{p} {old or "new"} {oct(s.st_mode)} {s.st_size if stat.S_ISREG(s.st_mode) else os.readlink(p) if stat.S_ISLNK(s.st_mode) else 0} {s.st_nlink}')
    return found
inodes = make()
before = content()
def attempt(name, act):
    global inodes, before
    try: act(); result = 'ok'
    except OSError as e: result = errno.errorcode[e.errno]
    after = content()
    print(name, result, [x for x in after if x not in before], [x for x in before if x not in after])
    if after != before: inodes = make(); before = content()
def call(function, *args):
    if function(*args) < 0: raise OSError(ctypes.get_errno(), '')
paths = ['f', 'f/', 'dir', 'dir/', 'empty', 'empty/', '.', 'dir/.', 'dir/..', 'dir/sub', 'dir/new', 'l', 'l/', 'dangling', 'dangling/', 'loop', 'loop/x', 'to-dir', 'to-dir/', 'to-dir/g',
         'none', 'none/', 'none/x', 'f/x', 'fifo', 'fifo/', 'other', 'x' * 255]
places = ['d/' + p for p in paths] + ['']
b = lambda p: p.encode()
for p in places:
    s = p[:40]
    for mode in 0o777, 0o7777: attempt(f'mkdir {s} {mode:o}', lambda: os.mkdir(p, mode))
    for act in os.rmdir, os.unlink: attempt(f'{act.__name__} {s}', lambda: act(p))
    for flags in 0x200, 0x300, 1: attempt(f'unlinkat {s} {flags:x}', lambda: call(libc.unlinkat, -100, b(p), flags))
    for text in 'f', '', 'y' * 5000: attempt(f'symlink {text[:9]} {s}', lambda: call(libc.symlink, b(text), b(p)))
    for mode in 0o666, stat.S_IFREG | 0o6666, stat.S_IFIFO | 0o666, stat.S_IFSOCK | 0o600, stat.S_IFDIR | 0o700, stat.S_IFLNK | 0o600, 0o70666:
        attempt(f'mknod {s} {mode:o}', lambda: os.mknod(p, mode))
    attempt(f'truncate {s}', lambda: os.truncate(p, 2))
    attempt(f'truncate {s} -1', lambda: os.truncate(p, -1))
    for mode in 0o700, 0o2755, 0o170744: attempt(f'chmod {s} {mode:o}', lambda: call(libc.chmod, b(p), mode))
    for flags in 0, 0x100, 0x1000, 0x4000, 0x1100: attempt(f'fchmodat2 {s} {flags:x}', lambda: call(libc.syscall, 452, -100, b(p), 0o740, flags))
    for flags in 0, 0x100, 0x1000: attempt(f'fchownat {s} {flags:x}', lambda: call(libc.fchownat, -100, b(p), os.getuid(), os.getgid(), flags))
    for flags in 0, 0x100, 0x400: attempt(f'utimensat {s} {flags:x}', lambda: call(libc.utimensat, -100, b(p), None, flags))
    for q in places:
        t = q[:40]
        for flags in range(8): attempt(f'rename {s} {t} {flags}', lambda: call(libc.renameat2, -100, b(p), -100, b(q), flags))
        for flags in 0, 0x400, 0x1000, 0x100: attempt(f'link {s} {t} {flags:x}', lambda: call(libc.linkat, -100, b(p), -100, b(q), flags))
)";

TEST_F(SameAsOutside, NamesAreMadeMovedAndRemoved) {
    run_outside("every_name.py", kEveryName);
    Session session = open();
    expect_same(session, "every_name.py", 9000);
}

// In both kinds of session: where the kernel opens it, and where the supervisor does.
TEST_F(SameAsOutside, AFifoWithoutAReaderHoldsNobodyUp) {
    for (const bool on_behalf : {false, true}) {
        SandboxPolicy policy = writable();
        policy.filesystem.allow_git_init = on_behalf;
        Session session = open(policy);
        for (const char* fifo : {"p", "/tmp/p"}) {
            const Ran ran = session.run(
                Session::python_command("P='" + std::string(fifo) +
                                        "'\n"
                                        "import os,threading\n"
                                        "os.mkfifo(P)\n"
                                        "def write(flags):\n"
                                        "  fd=os.open(P,os.O_WRONLY|flags,0o600); os.write(fd,b'x'); os.close(fd)\n"
                                        "kinds=[0,os.O_CREAT,os.O_TRUNC,os.O_CREAT|os.O_TRUNC]\n"
                                        "waiting=[threading.Thread(target=write,args=(k,)) for k in kinds]\n"
                                        "for t in waiting: t.start()\n"
                                        "for i in range(200):\n"
                                        "  os.close(os.open('f%d'%i,os.O_CREAT|os.O_EXCL|os.O_WRONLY)); "
                                        "os.rename('f%d'%i,'g'); os.unlink('g')\n"
                                        "print('others went on',sum(t.is_alive() for t in waiting),flush=True)\n"
                                        "try: os.open(P,os.O_WRONLY|os.O_NONBLOCK|os.O_CREAT)\n"
                                        "except OSError as e: print(e.strerror)\n"
                                        "fd=os.open(P,os.O_RDONLY); got=b''\n"
                                        "while len(got)<4: got+=os.read(fd,9)\n"
                                        "for t in waiting: t.join()\n"
                                        "os.close(fd); os.close(os.open(P,os.O_RDWR)); os.unlink(P); print(got)\n")
                    .timeout(std::chrono::seconds(120)));
            EXPECT_EQ(ran.out, "others went on 4\nNo such device or address\nb'xxxx'\n") << ran.err;
            EXPECT_EQ(ran.result.cause, Cause::finished);
            EXPECT_EQ(ran.denied(), std::vector<std::string>{});
        }
    }
}

// What waits in a FIFO ends with its command, and leaves nothing behind in the init, which may have to go.
TEST_F(SameAsOutside, WhoWaitsInAFifoEndsWithItsCommand) {
    SandboxPolicy policy = writable();
    policy.filesystem.allow_git_init = true;
    Session session = open(policy);
    for (int i = 0; i < rounds(20); ++i) {
        const Ran ran = session.sh(
            "rm -f p; mkfifo p; for i in 1 2 3 4 5 6 7 8; do echo x >p & done; test $((RANDOM % 2)) = 0 || head -c1 "
            "p");
        EXPECT_EQ(ran.result.cause, Cause::finished) << ran.err;
    }
    EXPECT_EQ(session.sh("ls /proc/self/fd | wc -l").out, open().sh("ls /proc/self/fd | wc -l").out);
}

}  // namespace
}  // namespace sandpipe::testing
