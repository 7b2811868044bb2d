#pragma once

#include <sandpipe/binary_executor.hpp>
#include <sandpipe/runtime.hpp>

#include <chrono>
#include <memory>

namespace sandpipe {

/// What `local_executor` uses where an invocation says nothing.
struct LocalExecutorOptions {
    std::chrono::nanoseconds timeout = std::chrono::seconds{120};  ///< positive, or kNoTimeout
    OutputLimit limit;                ///< 10 MiB a stream, then stop
    bool strip_final_newline = true;  ///< one "\n" or "\r\n" at the end of `out` and of `err`
    Environment env = Environment::standard();
};

/// Runs programs on this machine through the Runtime's helper; contained, if the invocation comes from a
/// sandbox. The executor keeps what it needs of the Runtime; once that is closed, exec throws
/// E_SANDBOX_NOT_INITIALIZED. Throws `Error` E_INVALID_SANDBOX_CONFIG for a wrong timeout or environment.
[[nodiscard]] std::shared_ptr<BinaryExecutor> local_executor(Runtime& runtime, LocalExecutorOptions options);
/// With the defaults. An overload, because g++ 12 mishandles such a default argument inside a co_await
/// expression.
[[nodiscard]] std::shared_ptr<BinaryExecutor> local_executor(Runtime& runtime);

}  // namespace sandpipe
