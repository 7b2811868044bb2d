#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// Each system call by which a file can be changed, old ones and new, made by its number.
class DenialCalls : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w/free");
        host("mkdir -p w/kept/sub w/free/sub; echo x > w/kept/p; echo x > w/free/p; echo x > w/free/f");
    }
    SandboxPolicy denying() {
        SandboxPolicy policy = writable();
        policy.filesystem.deny_write = {"kept"};
        return policy;
    }
    /// Makes them all in `place`, and prints how many there were and the errnos that came.
    Ran make_all(Session& session, const std::string& place) {
        return session.python("PLACE = b'" + place + "/'\n" + std::string(kCalls));
    }

    static constexpr const char* kCalls = R"(
import ctypes, errno, fcntl, os, struct
libc = ctypes.CDLL(None, use_errno=True)
p, n, s, f, here, u = PLACE + b'p', PLACE + b'new', PLACE + b'sub', b'free/f', -100, os.getuid()
fd = os.open(p, os.O_RDONLY)
old, more = bytearray(8), bytearray(28)
try: fcntl.ioctl(fd, 0x80086601, old); fcntl.ioctl(fd, 0x801c581f, more)                 # attributes as they are
except OSError: pass
old, more, cached = bytes(old), bytes(more), struct.pack('QQQ', 1, 0, 0x20)
calls = [(90, p, 0o644), (91, fd, 0o644), (268, here, p, 0o644),                         # chmod, fchmod, fchmodat
         (92, p, u, u), (93, fd, u, u), (94, p, u, u), (260, here, p, u, u, 0), (260, fd, b'', u, u, 0x1000),  # chown
         (132, p, 0), (235, p, 0), (261, here, p, 0), (280, here, p, 0, 0), (280, fd, 0, 0, 0),  # utime to utimensat
         (188, p, b'user.x', b'x', 1, 0), (189, p, b'user.x', b'x', 1, 0), (190, fd, b'user.x', b'x', 1, 0),
         (197, p, b'user.x'), (198, p, b'user.x'), (199, fd, b'user.x'),                 # removexattr
         (76, p, 1), (2, p, 1, 0), (2, p, 0o1000, 0), (2, p, 2 | 0o2000, 0), (257, here, p, 1, 0), (85, p, 0o600),
         (82, f, p), (264, here, f, here, p), (316, here, f, here, p, 0), (316, here, f, here, p, 2),  # rename
         (86, f, n), (265, here, f, here, n, 0), (88, b'x', n), (266, b'x', here, n),    # link, symlink
         (16, fd, 0x40086602, old), (16, fd, 0x401c5820, more), (16, fd, 0x40087602, old),  # FS_IOC_SETFLAGS and others
         (437, here, p, cached, 24),                                                     # openat2, RESOLVE_CACHED
         (83, n, 0o700), (258, here, n, 0o700), (133, n, 0o100600, 0), (259, here, n, 0o10600, 0),  # mkdir, mknod
         (85, n, 0o600), (2, n, 0o101, 0o600), (257, here, n, 0o301, 0o600),             # creat, open
         (87, p), (263, here, p, 0), (84, s), (263, here, s, 0x200)]                     # unlink, rmdir
seen = set()
for number, *arguments in calls:
    result = libc.syscall(number, *arguments)
    seen.add(errno.errorcode[ctypes.get_errno()] if result < 0 else 'done')
print(len(calls), *sorted(seen & {'EACCES', 'EROFS', 'done'}))
)";
};

TEST_F(DenialCalls, EachIsExactlyOneDenial) {
#ifndef __x86_64__
    GTEST_SKIP() << "missing: the system call numbers of x86-64";
#endif
    Session session = open(denying());
    const Ran ran = make_all(session, "kept");
    EXPECT_EQ(ran.out.substr(0, 2), "48") << ran.out << ran.err;
    EXPECT_EQ(ran.out.find("done"), std::string::npos) << ran.out;
    EXPECT_EQ(std::to_string(ran.result.denials.size()), ran.out.substr(0, 2));
    for (const Denial& denial : ran.result.denials) {
        EXPECT_EQ(to_string(denial.kind), std::string("write"));
        EXPECT_NE(denial.rule.find("kept"), std::string::npos) << denial.operation << " " << denial.path;
    }
}

TEST_F(DenialCalls, AndNoneWhereTheyAreAllowed) {
#ifndef __x86_64__
    GTEST_SKIP() << "missing: the system call numbers of x86-64";
#endif
    Session session = open(denying());
    const Ran ran = make_all(session, "free");
    EXPECT_EQ(ran.out, "48 done\n") << ran.err;
    EXPECT_EQ(ran.result.denials.size(), 0U);
}

}  // namespace
}  // namespace sandpipe::testing
