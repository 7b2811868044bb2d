#include <fstream>
#include <sstream>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// What open(2) does inside is what it does outside, whoever carries it out.
class Opens : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
    }

    static std::vector<std::string> lines_of(std::istream& text) {
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
def content():
    found = []
    for name in sorted(os.listdir('d')):
        s = os.lstat('d/' + name)
        found.append(f'{name} {oct(s.st_mode)} {s.st_size if stat.S_ISREG(s.st_mode) else 0}')
    return found
make()
before = content()
paths = 'f', './f/', 'dir', 'dir/', '.', 'l', 'l/', 'dangling', 'chain', 'up', 'loop', 'to-dir', 'none', 'none/x', 'none/', 'f/x', 'dir/../none', 'fifo'
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

TEST_F(Opens, EverySetOfFlagsMeansTheSame) {
    std::ofstream(at("every_flag.py")) << kEveryFlag;
    host("cp every_flag.py w; cp every_flag.py c; cd c && setpriv --no-new-privs --bounding-set=-all --inh-caps=-all -- python3 -I -S "
         "every_flag.py > ../expected && rm -rf d every_flag.py");
    Session session = open();
    const Ran ran = session.run(command("/usr/bin/python3").args("-I", "-S", "every_flag.py").out(Output::file(at("w/got"), FileMode::truncate)));
    ASSERT_EQ(ran.code(), 0) << ran.err;
    std::ifstream expected_file(at("expected"));
    std::ifstream got_file(at("w/got"));
    const std::vector<std::string> expected = lines_of(expected_file);
    const std::vector<std::string> got = lines_of(got_file);
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_GT(got.size(), 9000U);
    int differing = 0;
    for (std::size_t i = 0; i < got.size() && differing < 10; ++i)
        if (got[i] != expected[i]) ++differing, ADD_FAILURE() << got[i] << "\noutside: " << expected[i];
    EXPECT_EQ(ran.denied(), std::vector<std::string>{});
}

TEST_F(Opens, AFifoWithoutAReaderHoldsNobodyUp) {
    Session session = open();
    const Ran ran = session.run(Session::python_command(
        "import os,threading\n"
        "os.mkfifo('p')\n"
        "def write(flags):\n"
        "  fd=os.open('p',os.O_WRONLY|flags,0o600); os.write(fd,b'x'); os.close(fd)\n"
        "kinds=[0,os.O_CREAT,os.O_TRUNC,os.O_CREAT|os.O_TRUNC]\n"
        "waiting=[threading.Thread(target=write,args=(k,)) for k in kinds]\n"
        "for t in waiting: t.start()\n"
        "for i in range(200):\n"
        "  os.close(os.open('f%d'%i,os.O_CREAT|os.O_EXCL|os.O_WRONLY)); os.rename('f%d'%i,'g'); os.unlink('g')\n"
        "print('others went on',sum(t.is_alive() for t in waiting),flush=True)\n"
        "try: os.open('p',os.O_WRONLY|os.O_NONBLOCK|os.O_CREAT)\n"
        "except OSError as e: print(e.strerror)\n"
        "fd=os.open('p',os.O_RDONLY); got=b''\n"
        "while len(got)<4: got+=os.read(fd,9)\n"
        "for t in waiting: t.join()\n"
        "print(got)\n").timeout(std::chrono::seconds(120)));
    EXPECT_EQ(ran.out, "others went on 4\nNo such device or address\nb'xxxx'\n") << ran.err;
    EXPECT_EQ(ran.result.cause, Cause::finished);
    EXPECT_EQ(ran.denied(), std::vector<std::string>{});
}

}  // namespace
}  // namespace sandpipe::testing
