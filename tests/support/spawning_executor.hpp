#pragma once

#include <sandpipe/binary_executor.hpp>

namespace sandpipe::testing {

/// An executor as a user might write it, with posix_spawn and without the library: program and args of `fields()` as
/// they are, stdin from /dev/null, an environment of one variable, "/" as its cwd. Knows nothing of sessions.

class SpawningExecutor final : public BinaryExecutor {
  public:
    awaitable<BinaryExecResult> exec(BinaryInvocation invocation) override;
};

}  // namespace sandpipe::testing
