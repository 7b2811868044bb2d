#include "support/hung_filesystem.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

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

/// Looks again and again, for 10 s at most.
bool comes_true(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        ::usleep(1000);
    }
    return true;
}

/// What a counter of turns and its maker share: where that fails, the counter goes on until the context goes.
struct Turns {
    int count = 0;
    bool over = false;
};

awaitable<void> count_turns(std::shared_ptr<Turns> turns) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!turns->over) {
        timer.expires_after(20ms);
        co_await timer.async_wait(asio::use_awaitable);
        ++turns->count;
    }
}

}  // namespace

void HungFilesystemTest::SetUp() {
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

void HungFilesystemTest::TearDown() {
    if (server_ > 0) {
        ::kill(server_, SIGKILL);  // the last descriptor of the mount goes, and all that waits for it is let go
        close_runtime();
        (void)::umount2(at("w/dir/fuse").c_str(), MNT_DETACH);
        // EINVAL while threads are on their way out.
        EXPECT_TRUE(comes_true([this] { return ::setns(before_.get(), CLONE_NEWNS) == 0 || errno != EINVAL; }));
    }
    before_.reset();
    SandboxTest::TearDown();
}

void HungFilesystemTest::hang() const {
    ASSERT_EQ(::kill(server_, SIGSTOP), 0);
    const std::string stat = "/proc/" + std::to_string(server_) + "/stat";
    ASSERT_TRUE(comes_true([&] { return read_file(stat).find(") T ") != std::string::npos; }));
}

int HungFilesystemTest::turns_during(const std::function<awaitable<void>()>& work) {
    const auto turns = std::make_shared<Turns>();
    drive([&]() -> awaitable<void> {
        asio::co_spawn(co_await asio::this_coro::executor, count_turns(turns), asio::detached);
        co_await work();
    });
    turns->over = true;
    idle_for(100ms);
    return turns->count;
}

/// As an orphan: the fixture counts our own children.
void HungFilesystemTest::serve() {
    host(
        "python3 -I -S server.py > pid 2> server.log & while ! test -s pid; do kill -0 $! || exit 1; sleep 0.02; "
        "done");
    server_ = std::stoi(read_file(at("pid")));
}

}  // namespace sandpipe::testing
