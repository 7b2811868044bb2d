#pragma once

#include <signal.h>

namespace sandpipe::sys {

/// All signals blocked for the calling thread. A child that shares our memory must run none of the host's handlers,
/// and a thread that is made meanwhile, which has its maker's mask, takes no signal from the host's own threads.
class SignalsBlocked {
  public:
    SignalsBlocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

}  // namespace sandpipe::sys
