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

awaitable<void> Host::sandboxed(std::string program) { return run_in(sandbox_, command(std::move(program))); }

awaitable<void> Host::make_session() {
    SandboxPolicy policy;
    policy.filesystem.allow_write = {"."};
    co_await open_into(std::move(policy), sandbox_);
}

awaitable<void> Host::open_into(SandboxPolicy policy, std::shared_ptr<SandboxEnforcer>& made) {
    SrtEnforcerOptions options;
    options.workspace = std::filesystem::path(SANDPIPE_BENCH_TRUE).parent_path();
    options.policy = std::move(policy);
    made = co_await srt_enforcer(runtime_, std::move(options));
}

std::shared_ptr<SandboxEnforcer> Host::open(SandboxPolicy policy) {
    std::shared_ptr<SandboxEnforcer> made;
    drive(open_into(std::move(policy), made));
    return made;
}

awaitable<void> Host::run_in(std::shared_ptr<SandboxEnforcer> sandbox, BinaryInvocation invocation) {
    BinaryInvocation wrapped = co_await sandbox->wrap(std::move(invocation));
    co_await run(std::move(wrapped));
}

awaitable<void> Host::close(std::shared_ptr<SandboxEnforcer> sandbox) { co_await sandbox->close(); }

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
