// A TCP server that runs a sandboxed command for each connection: it sends back each line as `tr` makes it. A hundred
// clients come at once; everything runs on one thread.
#include <sandpipe/sandpipe.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <string>

using namespace sandpipe;
using asio::ip::tcp;

constexpr int kClients = 100;

awaitable<void> answer(std::shared_ptr<BinaryExecutor> executor, tcp::socket client) {
    std::string line;
    const std::size_t size = co_await asio::async_read_until(client, asio::dynamic_buffer(line), '\n', asio::use_awaitable);
    const BinaryExecResult result = co_await executor->exec(
        command("tr").args("a-z", "A-Z").input(Input::bytes(line.substr(0, size))).timeout(std::chrono::seconds{30}));
    const std::string reply = result.failed ? "failed: " + result.err + "\n" : result.out + "\n";
    co_await asio::async_write(client, asio::buffer(reply), asio::use_awaitable);
}

/// Ends after so many connections; each is served while the next ones come.
awaitable<void> serve(std::shared_ptr<BinaryExecutor> executor, tcp::acceptor& acceptor, int connections) {
    for (int i = 0; i < connections; ++i) {
        tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), answer(executor, std::move(client)), [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
    }
}

awaitable<void> ask(tcp::endpoint server, int number, int& answered) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    const std::string question = "client number " + std::to_string(number) + "\n";
    co_await asio::async_write(socket, asio::buffer(question), asio::use_awaitable);
    std::string reply;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(reply), '\n', asio::use_awaitable);
    if (reply == "CLIENT NUMBER " + std::to_string(number) + "\n") ++answered;
}

awaitable<void> run(Runtime& runtime, int& answered) {
    asio::any_io_executor here = co_await asio::this_coro::executor;
    SandboxedExecutorOptions options;
    options.inner = local_executor(runtime);
    SrtEnforcerOptions session;  // reads: everything; writes: nothing; network: none
    options.sandbox = co_await srt_enforcer(runtime, std::move(session));
    std::shared_ptr<BinaryExecutor> executor = sandboxed_executor(std::move(options));

    const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
    tcp::acceptor acceptor(here, any_port);
    acceptor.listen(kClients);
    const tcp::endpoint server = acceptor.local_endpoint();
    for (int i = 0; i < kClients; ++i)
        asio::co_spawn(here, ask(server, i, answered), [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
    co_await serve(std::move(executor), acceptor, kClients);
}

int main() {
    asio::io_context context;
    Runtime runtime{context.get_executor()};
    int answered = 0;
    co_spawn(context, run(runtime, answered), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    // Returns once all connections are served: an idle Runtime keeps no context at work.
    context.run();
    std::cout << answered << " of " << kClients << " connections were answered by a sandboxed command each\n";
    return answered == kClients ? 0 : 1;
}
