#include "interrupts.hpp"

#include <sandpipe/unique_fd.hpp>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace sandpipe::cli {
namespace {

[[noreturn]] void fail(int error, const char* what) {
    throw std::system_error(error, std::system_category(), what);
}

sigset_t interrupt_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

void change_mask(int how) {
    const sigset_t set = interrupt_signals();
    if (const int error = pthread_sigmask(how, &set, nullptr); error != 0) fail(error, "pthread_sigmask");
}

unique_fd make_signal_descriptor() {
    hold_interrupts();
    const sigset_t set = interrupt_signals();
    unique_fd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) fail(errno, "signalfd");
    return fd;
}

}  // namespace

void hold_interrupts() { change_mask(SIG_BLOCK); }
void let_interrupts_through() { change_mask(SIG_UNBLOCK); }

Interrupts::Interrupts(asio::io_context& context) : signals_(context) {
    unique_fd fd = make_signal_descriptor();
    signals_.assign(fd.get());
    static_cast<void>(fd.release());  // signals_ has it
}

awaitable<void> Interrupts::watch() {
    std::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    while (!error) {
        co_await signals_.async_wait(asio::posix::stream_descriptor::wait_read, token);
        if (!error) take();
    }
}

void Interrupts::close() { signals_.close(); }

void Interrupts::take() {
    signalfd_siginfo info;
    while (::read(descriptor(), &info, sizeof info) == sizeof info) {
        ++count_;
        if (first_ == 0) first_ = static_cast<int>(info.ssi_signo);
        if (action_) action_();
    }
}

InterruptAction::InterruptAction(Interrupts& interrupts, std::function<void()> action)
    : interrupts_(interrupts), outer_(std::exchange(interrupts.action_, std::move(action))) {
    for (int i = 0; i < interrupts_.count_; ++i) interrupts_.action_();
}

InterruptAction::~InterruptAction() { interrupts_.action_ = std::move(outer_); }

}  // namespace sandpipe::cli
