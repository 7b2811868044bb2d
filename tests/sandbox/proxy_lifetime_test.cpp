// Ends: of a command in mid-transfer, and of a session.
#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <asio/co_spawn.hpp>
#include <asio/thread_pool.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include <sandpipe/command_stream.hpp>
#include <sandpipe/runtime.hpp>

#include "sandbox/make_enforcer.hpp"
#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

class ProxyLifetime : public ProxyTest {
  protected:
    /// Descriptors of this process that are TCP sockets.
    static std::size_t sockets() {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            const int fd = std::atoi(entry.path().filename().c_str());
            int domain = 0;
            socklen_t size = sizeof domain;
            if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_INET) ++count;
        }
        return count;
    }
    bool sockets_become(std::size_t wanted) {
        for (int i = 0; i < 100 && sockets() != wanted; ++i) idle_for(50ms);
        return sockets() == wanted;
    }
};

/// Opens tunnels that never end by themselves.
const char* const kHold = "\nheld=[tunnel(f'127.0.0.1:{p}')[0] for _ in range(20)]+[proxy() for _ in range(5)]\n"
                          "held[0].sendall(b'x'*100000); print('up',flush=True); time.sleep(1000)\n";

std::string hold(const TestServer& server) { return "p=" + std::to_string(server.port()) + kHold; }

TEST_F(ProxyLifetime, ACommandThatDiesInMidTransferLeavesNothing) {
    const TestServer server("source");
    const TestServer echo("echo");
    Session session = open_domains({"127.0.0.1"});
    ASSERT_TRUE(sockets_become(2));
    for (int i = 0; i < rounds(3); ++i) {
        Running busy = session.start(client("p=" + std::to_string(server.port()) + R"(
s=tunnel(f'127.0.0.1:{p}')[0]; s.sendall(b'500000000\n'); s.recv(100000); print('up',flush=True); time.sleep(1000)
)"));
        busy.await_output("up");
        Running quiet = session.start(client(hold(echo)));
        quiet.await_output("up");
        EXPECT_GT(sockets(), 40U);
        busy.stop();
        quiet.stop();
        (void)busy.finish();
        (void)quiet.finish();
        EXPECT_TRUE(sockets_become(2)) << sockets();
    }
}

/// An origin that says nothing and waits for more does not end them: only the end of the command does.
TEST_F(ProxyLifetime, ACommandThatDiesWhileItWaitsLeavesNothing) {
    const TestServer server("mute");
    Session session = open_domains({"127.0.0.1"});
    Running other = session.start(client("print('up',flush=True); time.sleep(1000)"));
    other.await_output("up");
    ASSERT_TRUE(sockets_become(2));
    Running waiting = session.start(client("p=" + std::to_string(server.port()) + R"(
held=[tunnel(f'127.0.0.1:{p}')[0],tunnel(f'127.0.0.1:{p}')[0],socks('127.0.0.1',p)[0]]
held[1].sendall(b'x'*100000); held[1].shutdown(socket.SHUT_WR)
for text in 'GET http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\n\r\n','POST http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf':
  s=proxy(); s.sendall(text.format(p=p).encode()); held.append(s)
print('up',flush=True); time.sleep(1000)
)"));
    waiting.await_output("up");
    idle_for(200ms);
    EXPECT_EQ(sockets(), 12U);
    waiting.stop();
    (void)waiting.finish();
    EXPECT_TRUE(sockets_become(2)) << sockets();
    other.stop();
    (void)other.finish();
}

TEST_F(ProxyLifetime, AClientThatLeavesInTheMiddleOfABodyEndsItsRequest) {
    const TestServer server("mute");
    Session session = open_domains({"127.0.0.1"});
    Running command = session.start(client("p=" + std::to_string(server.port()) + R"(
s=proxy(); s.sendall(f'POST http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf'.encode())
time.sleep(0.2); s.close(); print('left',flush=True); time.sleep(1000)
)"));
    command.await_output("left");
    EXPECT_TRUE(sockets_become(2)) << sockets();
    command.stop();
    (void)command.finish();
}

TEST_F(ProxyLifetime, AClientThatClosesIsToldFromOneThatStillWaits) {
    limits().orphan_check = 100ms;
    const TestServer server("mute");
    const TestServer late("program", "cat >/dev/null; sleep 1; echo late");
    Session session = open_domains({"127.0.0.1"});
    Running command =
        session.start(client("p=" + std::to_string(server.port()) + "\nlate=" + std::to_string(late.port()) + R"(
closed=[tunnel(f'127.0.0.1:{p}')[0],socks('127.0.0.1',p)[0],proxy()]
closed[2].sendall(f'GET http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
waiting=tunnel(f'127.0.0.1:{late}')[0]; waiting.shutdown(socket.SHUT_WR)
time.sleep(0.2)
for s in closed: s.close()
print(read(waiting).decode(),flush=True); waiting.close(); time.sleep(1000)
)"));
    command.await_output("late\n");
    EXPECT_TRUE(sockets_become(2)) << sockets();
    command.stop();
    (void)command.finish();
}

TEST_F(ProxyLifetime, WhatACommandSentBeforeItEndedArrives) {
    const TestServer sink("sink");
    Session session = open_domains({"127.0.0.1"});
    for (int i = 0; i < rounds(5); ++i) {
        const Ran ran = talk(session, "p=" + std::to_string(sink.port()) + R"(
for make in (lambda:tunnel(f'127.0.0.1:{p}')[0]),(lambda:socks('127.0.0.1',p)[0]): make().sendall(b'x'*3000000)
s=proxy(); s.sendall(f'POST http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n'.encode()+b'x'*3000000)
)");
        EXPECT_EQ(ran.code(), 0) << ran.err;
        EXPECT_TRUE(sockets_become(2)) << sockets();
    }
    const std::size_t sent = 3U * static_cast<unsigned>(rounds(5));
    for (int i = 0; i < 100 && sink.sizes().size() != sent; ++i) idle_for(50ms);
    EXPECT_EQ(sink.sizes().size(), sent);
    for (const std::size_t size : sink.sizes()) EXPECT_GE(size, 3'000'000U);
}

/// With the last socket goes the session's network namespace: nothing else of the host's is in it.
TEST_F(ProxyLifetime, CloseEndsAllOfIt) {
    const TestServer server("echo");
    const std::size_t before = sockets();
    Session session = open_domains({"127.0.0.1"});
    Running command = session.start(client(hold(server)));
    command.await_output("up");
    session.close();
    (void)command.finish();
    EXPECT_EQ(sockets(), before) << "close() returned before everything was closed";
    session.close();
}

/// Network namespaces that the kernel has, whoever made them; absent for who may not know.
std::optional<int> network_namespaces() {
    std::ifstream slabs("/proc/slabinfo");
    for (std::string line; std::getline(slabs, line);)
        if (line.starts_with("net_namespace ")) return std::atoi(line.c_str() + sizeof "net_namespace");
    return {};
}

TEST_F(ProxyLifetime, SessionsThatCloseInMidTransferLeaveNoNamespace) {
    const auto before = network_namespaces();
    if (!before) GTEST_SKIP() << "/proc/slabinfo counts namespaces, for root only";
    const TestServer server("source");
    const int sessions = rounds(30);
    for (int i = 0; i < sessions; ++i) {
        Session session = open_domains({"127.0.0.1"});
        Running busy = session.start(client("p=" + std::to_string(server.port()) + R"(
s=tunnel(f'127.0.0.1:{p}')[0]; s.sendall(b'50000000\n'); s.recv(100000); held=proxy(); print('up',flush=True); time.sleep(1000)
)"));
        busy.await_output("up");
        session.close();
        (void)busy.finish();
    }
    // The kernel takes namespaces down one after the other, and other tests make their own meanwhile.
    const int most = *before + sessions / 2;
    for (int i = 0; i < 600 && *network_namespaces() > most; ++i) idle_for(50ms);
    EXPECT_LE(*network_namespaces(), most);
    EXPECT_EQ(sockets(), 0U);
}

TEST_F(ProxyLifetime, ManyThreadsServe) {
    const TestServer server("http");
    seal();
    asio::thread_pool pool(4);
    Runtime runtime(pool.get_executor());
    const std::string lines = "import threading\np=" + std::to_string(server.port()) + R"(
def work():
  for i in range(10):
    assert get(f'http://127.0.0.1:{p}/bytes/100000').endswith('x'); assert tunnel('bad.test:443')[1]==403
threads=[threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print('all')
)";
    auto work = [&]() -> awaitable<void> {
        SrtEnforcerOptions options = options_for({"127.0.0.1"});
        const auto sandbox = co_await srt_enforcer(runtime, std::move(options));
        BinaryInvocation call = client(lines);
        CommandStream stream = co_await sandbox->run(std::move(call));
        std::string out;
        while (const auto event = co_await stream.next())
            if (const auto* chunk = std::get_if<OutputChunk>(&*event)) out += chunk->data;
        const CommandResult result = co_await stream.finish();
        EXPECT_EQ(out, "all\n");
        EXPECT_EQ(result.denials.size(), 80U);
        co_await sandbox->close();
        co_await runtime.close();
    };
    std::promise<std::exception_ptr> done;
    asio::co_spawn(pool, work, [&](std::exception_ptr error) { done.set_value(error); });
    auto ended = done.get_future();
    ASSERT_EQ(ended.wait_for(60s), std::future_status::ready);
    EXPECT_FALSE(ended.get());
    pool.join();
}

}  // namespace
}  // namespace sandpipe::testing
