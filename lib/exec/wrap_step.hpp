#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/binary_executor.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

namespace sandpipe {

/// How waiting for a wrap ended: with one of these, and no wrapped invocation where it was cancelled or too late.
struct WrapOutcome {
    std::optional<BinaryInvocation> wrapped;
    std::exception_ptr error;
    bool cancelled = false;
    bool timed_out = false;
};

/// `sandbox->wrap(invocation)` within a limit, on the awaiting coroutine's executor. When the limit passes, and when
/// the awaiting coroutine is cancelled (by any type), wrap is cancelled and has 2 s to end; a second cancellation
/// does not wait. Its result is dropped then. Never throws what wrap throws: that is in the outcome.
[[nodiscard]] awaitable<WrapOutcome> wrap_within(asio::any_io_executor executor,
                                                 std::shared_ptr<BinarySandbox> sandbox,
                                                 BinaryInvocation invocation, std::chrono::nanoseconds limit);

}  // namespace sandpipe
