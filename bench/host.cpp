#include "host.hpp"

#include <asio/co_spawn.hpp>

#include <exception>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace sandpipe::bench {

Host::Host() { drive(make_session()); }

void Host::drive(std::vector<awaitable<void>> work) {
    std::exception_ptr failure;
    std::size_t open = work.size();
    for (awaitable<void>& one : work)
        asio::co_spawn(context_, std::move(one), [&](std::exception_ptr error) {
            if (error) failure = error;
            if (--open == 0) context_.stop();
        });
    context_.restart();
    context_.run();
    if (failure) std::rethrow_exception(failure);
}

void Host::drive(awaitable<void> work) {
    std::vector<awaitable<void>> one;
    one.push_back(std::move(work));
    drive(std::move(one));
}

awaitable<void> Host::plain(std::string program) { return run(command(std::move(program))); }

awaitable<void> Host::sandboxed(std::string program) { return contained(sandbox_, std::move(program)); }

awaitable<void> Host::contained(std::shared_ptr<SandboxEnforcer> sandbox, std::string program) {
    BinaryInvocation wrapped = co_await sandbox->wrap(command(std::move(program)));
    co_await run(std::move(wrapped));
}

awaitable<void> Host::make_session() {
    SrtEnforcerOptions options;
    options.workspace = std::filesystem::path(SANDPIPE_BENCH_TRUE).parent_path();
    options.policy.filesystem.allow_write = {"."};
    sandbox_ = co_await srt_enforcer(runtime_, std::move(options));
}

awaitable<void> Host::run(BinaryInvocation invocation) {
    const std::string program = invocation.fields().program;
    const BinaryExecResult result = co_await executor_->exec(std::move(invocation));
    if (result.failed) throw std::runtime_error(program + " failed");
}

Host& host() {
    static Host made;
    return made;
}

}  // namespace sandpipe::bench
