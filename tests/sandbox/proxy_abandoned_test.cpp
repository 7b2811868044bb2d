// Ends that nobody ordered: the context is destroyed amid traffic or starts, or nobody closes at all. And a close at any
// time.
#include <gmock/gmock.h>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <optional>

#include <sandpipe/command_stream.hpp>
#include <sandpipe/runtime.hpp>

#include "sandbox/make_enforcer.hpp"
#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

class ProxyAbandoned : public ProxyTest {};

/// Every way a connection can be under way, each at whatever point it has come to.
const char* const kAllKinds = R"(
import threading
def again(f):
  while True:
    try: f()
    except OSError: pass
def post():
  s=proxy(); s.sendall(f'POST http://127.0.0.1:{p}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n'.encode()+b'x'*90000); read(s)
def half():
  s=tunnel(f'127.0.0.1:{p}')[0]; s.sendall(b'x'*50000); s.shutdown(socket.SHUT_WR); s.recv(1000)
for f in (post,half,lambda:tunnel('bad.test:1'),lambda:socks('bad.test',1),
          lambda:socks('127.0.0.1',p),lambda:get('http://bad.test/'),lambda:proxy(1080).sendall(b'\x05'),
          lambda:tunnel('127.0.0.1:1')):
  threading.Thread(target=again,args=(f,),daemon=True).start()
held=[tunnel(f'127.0.0.1:{p}')[0] for _ in range(10)]
print('up',flush=True)
while True:
  for s in held: s.sendall(b'x'*1000)
)";

/// The fixture counts the descriptors that are left over.
TEST_F(ProxyAbandoned, TheContextMayGoFirst) {
    const TestServer server("echo");
    seal();
    for (int i = 0; i < rounds(12); ++i) {
        std::shared_ptr<SandboxEnforcer> kept;
        std::optional<Runtime> runtime;
        {
            asio::io_context context;
            runtime.emplace(context.get_executor());
            bool up = false;
            auto work = [&]() -> awaitable<void> {
                SrtEnforcerOptions options = options_for({"127.0.0.1"});
                kept = co_await srt_enforcer(*runtime, std::move(options));
                BinaryInvocation call = client("p=" + std::to_string(server.port()) + kAllKinds);
                CommandStream stream = co_await kept->run(std::move(call));
                while (const auto event = co_await stream.next())
                    up = up || std::holds_alternative<OutputChunk>(*event);
            };
            asio::co_spawn(context, work, [](const std::exception_ptr&) {});
            const auto deadline = std::chrono::steady_clock::now() + 60s;
            while (!up && std::chrono::steady_clock::now() < deadline) context.run_one_for(1s);
            EXPECT_TRUE(up);
            for (int step = 0; step < 100 * i; ++step) context.run_one_for(1s);
        }
        runtime.reset();
        kept.reset();
    }
}

TEST_F(ProxyAbandoned, TheContextMayGoWhileASessionStarts) {
    seal();
    for (int steps = 0; steps < 40; ++steps) {
        std::optional<Runtime> runtime;
        {
            asio::io_context context;
            runtime.emplace(context.get_executor());
            auto work = [&]() -> awaitable<void> {
                SrtEnforcerOptions options = options_for({"127.0.0.1"});
                (void)co_await srt_enforcer(*runtime, std::move(options));
            };
            asio::co_spawn(context, work, [](const std::exception_ptr&) {});
            for (int i = 0; i < steps; ++i) context.run_one_for(1s);
        }
        runtime.reset();
    }
}

TEST_F(ProxyAbandoned, DestroyedWithoutCloseItEndsTheProxies) {
    const TestServer server("echo");
    seal();
    asio::io_context context;
    Runtime runtime(context.get_executor());
    auto work = [&]() -> awaitable<void> {
        SrtEnforcerOptions options = options_for({"127.0.0.1"});
        const auto sandbox = co_await srt_enforcer(runtime, std::move(options));
        BinaryInvocation call = sandbox->shell("true");
        CommandStream stream = co_await sandbox->run(std::move(call));
        (void)co_await stream.finish();
    };
    std::exception_ptr failure;
    asio::co_spawn(context, work, [&](std::exception_ptr error) { failure = error; });
    // Returns only when the acceptors are gone with their session.
    EXPECT_GT(context.run_for(20s), 0U);
    EXPECT_TRUE(context.stopped());
    EXPECT_FALSE(failure);
}

TEST_F(ProxyAbandoned, ASessionMayCloseAtAnyTime) {
    const TestServer server("echo");
    for (int i = 0; i < rounds(10); ++i) {
        Session session = open_domains({"127.0.0.1"});
        Running busy = session.start(client("p=" + std::to_string(server.port()) + kAllKinds));
        busy.await_output("up");
        idle_for(std::chrono::milliseconds{3 * i});
        session.close();
        (void)busy.finish();
    }
}

}  // namespace
}  // namespace sandpipe::testing
