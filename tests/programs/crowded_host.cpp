// crowded_host WORKSPACE: a host whose epoll takes no more descriptors once its sessions stand. A relay that has its
// ticket already is refused; what is wrapped then are relays that say why, each time; no further session is made; and
// nothing of that is left open.
#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "full_epoll.hpp"

using namespace sandpipe;

namespace {

using Enforcer = std::shared_ptr<SandboxEnforcer>;

SrtEnforcerOptions options_for(const char* workspace) {
    SrtEnforcerOptions options;
    options.workspace = workspace;
    return options;
}

awaitable<void> prepare(Runtime& runtime, const char* workspace, Enforcer& closed, Enforcer& open,
                        std::vector<std::string>& relay) {
    closed = co_await srt_enforcer(runtime, options_for(workspace));
    open = co_await srt_enforcer(runtime, options_for(workspace));
    const BinaryInvocation wrapped = co_await open->wrap(command("true"));
    relay = wrapped.fields().args;
    relay.insert(relay.begin(), wrapped.fields().program);
}

/// Its exit status, while the host serves it.
int serve(asio::io_context& context, std::vector<std::string> relay) {
    std::vector<char*> argv;
    for (std::string& word : relay) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = -1;
    check(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) == 0, "the relay starts");
    int status = -1;
    std::thread waiter([&] {
        ::waitpid(pid, &status, 0);
        context.stop();
    });
    const auto work = asio::make_work_guard(context);
    context.run();
    waiter.join();
    context.restart();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A thread that looks at files for nobody any more has its own for a moment.
bool comes_down_to(std::ptrdiff_t descriptors) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (count_descriptors() != descriptors) {
        if (std::chrono::steady_clock::now() > end) return false;
        ::usleep(1000);
    }
    return true;
}

awaitable<void> crowd(Runtime& runtime, const char* workspace, Enforcer enforcer) {
    const std::ptrdiff_t before = count_descriptors();
    for (int i = 0; i < 5; ++i) {
        const BinaryInvocation wrapped = co_await enforcer->wrap(command("true"));
        check(!wrapped.fields().args.empty(), "a relay");
        check(wrapped.fields().args.back().find("no socket could be made") == 0, "a relay that says why");
        bool refused = false;
        try {
            co_await srt_enforcer(runtime, options_for(workspace));
        } catch (const Error& error) {
            refused = error.errc() == Errc::sandbox_failed;
        }
        check(refused, "no further session is made");
    }
    check(comes_down_to(before), "no descriptor is left open");
    co_await enforcer->close();
}

void rethrow(const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    asio::io_context context;
    Runtime runtime(context.get_executor());
    Enforcer closed;
    Enforcer open;
    std::vector<std::string> relay;
    asio::co_spawn(context, prepare(runtime, argv[1], closed, open, relay), [&](const std::exception_ptr& error) {
        context.stop();  // the ticket keeps it at work
        rethrow(error);
    });
    context.run();
    context.restart();
    fill_epoll();
    check(serve(context, relay) == 125, "a relay with a ticket is refused");
    asio::co_spawn(context, crowd(runtime, argv[1], closed), [&](const std::exception_ptr& error) {
        context.stop();
        rethrow(error);
    });
    context.run();
}
