#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <functional>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {

/// With a FUSE mount at w/dir/fuse, in a mount namespace of this thread's own, which the Runtime inherits. Skips
/// where that is not possible.
class HungFilesystemTest : public SandboxTest {
  protected:
    void SetUp() override;
    void TearDown() override;

    /// From now on the file system answers nobody.
    void hang() const;
    /// Runs the coroutine to its end and counts the turns that another one on the same thread had meanwhile, one in
    /// 20 ms.
    int turns_during(const std::function<awaitable<void>()>& work);

  private:
    void serve();

    unique_fd before_;
    pid_t server_ = -1;
};

}  // namespace sandpipe::testing
