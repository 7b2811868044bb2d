#include "held_signal.hpp"

#include <pthread.h>
#include <time.h>

namespace sandpipe::sys {

HeldSignal::HeldSignal(int signal) noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, signal);
    sigset_t pending;
    ::sigpending(&pending);
    pending_before_ = sigismember(&pending, signal) == 1;
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

HeldSignal::~HeldSignal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void HeldSignal::take() noexcept {
    constexpr timespec kNow{};
    if (!pending_before_) ::sigtimedwait(&signal_, nullptr, &kNow);
}

}  // namespace sandpipe::sys
