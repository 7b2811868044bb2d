#pragma once

#include <signal.h>

namespace sandpipe::sys {

/// Keeps a signal that comes with an error of write(2) from the process: blocked for the calling thread while this
/// lives, and taken by `take`, for the kernel sends it to the thread that writes (pipe(7), setrlimit(2)).
class HeldSignal {
  public:
    explicit HeldSignal(int signal) noexcept;
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;
    ~HeldSignal();

    /// After the error; a signal that was pending before is not ours, and stays.
    void take() noexcept;

  private:
    sigset_t signal_{};
    sigset_t before_{};
    bool pending_before_ = false;
};

}  // namespace sandpipe::sys
