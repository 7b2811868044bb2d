#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>
#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cstdio>

#include "sandbox/make_enforcer.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// An empty directory, until the server is stopped.
constexpr const char* kServer = R"(
import ctypes, os, struct
fd = os.open('/dev/fuse', os.O_RDWR)
options = 'fd=%d,rootmode=40000,user_id=0,group_id=0' % fd
assert ctypes.CDLL(None).mount(b'fuse', b'w/dir/fuse', b'fuse', 0, options.encode()) == 0
print(os.getpid(), flush=True)
init = struct.pack('IIIIHHIIHHI28x', 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0)
attributes = struct.pack('QII6Q10I', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
answers = {26: init, 3: attributes, 27: struct.pack('QII', 1, 0, 0), 28: b'', 29: b'', 17: b'\0' * 80}
while True:
    request = os.read(fd, 1 << 17)
    kind, number = struct.unpack('4xIQ', request[:16])
    if kind in (2, 42): continue
    body = answers.get(kind)
    os.write(fd, struct.pack('IiQ', 16 + len(body or b''), 0 if body is not None else -2, number) + (body or b''))
)";

/// A FUSE mount within the workspace, in a mount namespace of this thread's own, which the Runtime inherits.
class HungFilesystem : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        if (!is_root() || ::access("/dev/fuse", R_OK | W_OK) != 0)
            GTEST_SKIP() << "no /dev/fuse that this user may open and mount on this machine";
        host("mkdir w/dir/fuse");
        write_file(at("server.py"), kServer);
        for (const char* name : {"w/dir/fuse", "pid", "server.log"}) ignore_below(name);
        seal();
        before_.reset(::open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC));
        ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
        ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
        serve();
        restart();  // the fixture's first launcher is of the other namespace
    }

    void TearDown() override {
        if (server_ > 0) {
            ::kill(server_, SIGKILL);  // the last descriptor of the mount goes, and all that waits for it is let go
            close_runtime();
            (void)::umount2(at("w/dir/fuse").c_str(), MNT_DETACH);
            while (::setns(before_.get(), CLONE_NEWNS) < 0 && errno == EINVAL)
                ::usleep(1000);  // threads are on their way out
        }
        before_.reset();
        SandboxTest::TearDown();
    }

    void hang() const {
        ASSERT_EQ(::kill(server_, SIGSTOP), 0);
        const std::string stat = "/proc/" + std::to_string(server_) + "/stat";
        while (read_file(stat).find(") T ") == std::string::npos) ::usleep(1000);
    }

    /// What making a session says, while the loop goes on: how often another coroutine of it had its turn.
    std::pair<std::string, int> open_within(seconds limit, SandboxPolicy policy) {
        std::string said = "made";
        int turns = 0;
        bool over = false;
        drive([&]() -> awaitable<void> {
            auto executor = co_await asio::this_coro::executor;
            const auto tick = [&turns, &over]() -> awaitable<void> {
                asio::steady_timer timer(co_await asio::this_coro::executor);
                while (!over) {
                    timer.expires_after(milliseconds(20));
                    co_await timer.async_wait(asio::use_awaitable);
                    ++turns;
                }
            };
            asio::co_spawn(executor, tick, asio::detached);
            SrtEnforcerOptions options;
            options.policy = policy;
            options.workspace = at("w");
            const ProxySettings proxies;  // no temporary: g++ 12 destroys those of a co_await twice
            try {
                co_await make_enforcer(runtime(), options, proxies, limit);
            } catch (const Error& error) {
                said = error.what();
            }
            over = true;
        });
        idle_for(milliseconds(100));
        return {said, turns};
    }

  private:
    /// As an orphan: the fixture counts our own children.
    void serve() {
        host(
            "python3 -I -S server.py > pid 2> server.log & while ! test -s pid; do kill -0 $! || exit 1; sleep 0.02; "
            "done");
        server_ = std::stoi(read_file(at("pid")));
    }

    unique_fd before_;
    pid_t server_ = -1;
};

TEST_F(HungFilesystem, OneThatAnswersIsATreeLikeOthers) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"dir/fuse/x", "**/*.key"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("ls -A dir/fuse && echo listed").out, "listed\n");
}

// The search for names to protect goes through all of a writable root.
TEST_F(HungFilesystem, ASessionThatWouldSearchItIsNotMadeAndHoldsUpNothing) {
    hang();
    const auto [said, turns] = open_within(seconds(1), writable());
    EXPECT_NE(said.find("a file system hangs"), std::string::npos) << said;
    EXPECT_GE(turns, 10);
    // Others of the same Runtime are made and work meanwhile.
    EXPECT_EQ(open(writable({"../c"})).sh("echo x > ../c/two && echo written").out, "written\n");
    ignore_below("c");
    close_runtime();
}

TEST_F(HungFilesystem, ARunningCommandCanBeStoppedAndTheNextIsNotStarted) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"dir/fuse/x"};
    Session session = open(policy);
    Running reader = session.start(session.shell("echo begun; read line; ls dir/fuse").input(Input::stream()));
    reader.await_output("begun");
    hang();
    reader.write("go\n");
    const Ran next = session.run(session.shell("true").start_timeout(seconds(1)));
    EXPECT_EQ(next.result.cause, Cause::not_started);
    EXPECT_TRUE(std::holds_alternative<NotStarted>(next.result.status));
    reader.stop();
    const Ran stopped = reader.finish();
    EXPECT_EQ(stopped.result.cause, Cause::cancelled);
    session.close();
}

}  // namespace
}  // namespace sandpipe::testing
