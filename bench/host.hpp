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
    /// The same in another session.
    awaitable<void> contained(std::shared_ptr<SandboxEnforcer> sandbox, std::string program);

  private:
    awaitable<void> make_session();
    awaitable<void> run(BinaryInvocation invocation);

    asio::io_context context_;
    Runtime runtime_{context_.get_executor()};
    std::shared_ptr<BinaryExecutor> executor_ = local_executor(runtime_);
    std::shared_ptr<SandboxEnforcer> sandbox_;
};

Host& host();

}  // namespace sandpipe::bench
