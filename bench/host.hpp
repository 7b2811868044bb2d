#pragma once

#include <sandpipe/sandpipe.hpp>

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sandpipe::bench {

/// One thread, one Runtime and one sandbox session, kept for all benchmarks of a process.
class Host {
  public:
    Host();

    /// Does all of `work` at once; returns when it is done, and throws what one of it threw.
    void drive(std::vector<awaitable<void>> work);
    void drive(awaitable<void> work);

    Runtime& runtime() { return runtime_; }
    /// A settled run of `program`, which must succeed.
    awaitable<void> plain(std::string program);
    awaitable<void> sandboxed(std::string program);

    /// A session of its own, and settled runs, which must succeed, outside and in it.
    std::shared_ptr<SandboxEnforcer> open(SandboxPolicy policy);
    awaitable<void> run(BinaryInvocation invocation);
    awaitable<void> run_in(std::shared_ptr<SandboxEnforcer> sandbox, BinaryInvocation invocation);
    awaitable<void> close(std::shared_ptr<SandboxEnforcer> sandbox);

  private:
    awaitable<void> make_session();
    awaitable<void> open_into(SandboxPolicy policy, std::shared_ptr<SandboxEnforcer>& made);

    asio::io_context context_;
    Runtime runtime_{context_.get_executor()};
    std::shared_ptr<BinaryExecutor> executor_ = local_executor(runtime_);
    std::shared_ptr<SandboxEnforcer> sandbox_;
};

Host& host();

}  // namespace sandpipe::bench
