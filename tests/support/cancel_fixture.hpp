#pragma once

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>

#include <memory>
#include <string>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {

inline StopPolicy long_grace() {
    StopPolicy policy;
    policy.grace = 20s;
    return policy;
}

/// For tests of cancellation: commands beside the test, each with the signal that cancels it.
class CancelFixture : public ProcessFixture {
  protected:
    struct Pending {
        std::optional<BinaryExecResult> result;
        std::exception_ptr error;
        asio::cancellation_signal cancel;
        [[nodiscard]] bool done() const { return result || error; }
    };

    std::shared_ptr<Pending> spawn(awaitable<BinaryExecResult> work) {
        auto pending = std::make_shared<Pending>();
        asio::co_spawn(
            io(), std::move(work),
            asio::bind_cancellation_slot(pending->cancel.slot(),
                                         [pending](std::exception_ptr error, BinaryExecResult value) {
                                             pending->error = error;
                                             if (!error) pending->result = std::move(value);
                                         }));
        return pending;
    }
    std::shared_ptr<Pending> spawn(BinaryInvocation invocation) {
        return spawn(executor()->exec(std::move(invocation)));
    }
    bool await_end(Pending& pending, std::chrono::milliseconds limit = 5s) {
        return drive_until([&] { return pending.done(); }, limit);
    }
    bool await_file(const std::string& name) {
        return drive_until([&] { return std::filesystem::exists(scratch() / name); });
    }
    /// Says that it is up, and ignores SIGTERM.
    [[nodiscard]] std::string stubborn() const { return "trap '' TERM; " + mark("up") + "while :; do sleep .05; done"; }
    /// A line that makes the file `name` and goes on.
    [[nodiscard]] std::string mark(const std::string& name) const {
        return "touch " + (scratch() / name).string() + "; ";
    }
};

}  // namespace sandpipe::testing
