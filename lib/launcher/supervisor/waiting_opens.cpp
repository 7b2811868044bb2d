#include "launcher/supervisor/waiting_opens.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <memory>
#include <utility>

#include "launcher/kernel/own_descriptor.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

struct Waiting {
    Waiting(const Call& by, unique_fd handle) : call(by), fifo(std::move(handle)), path(fifo.get()) {}

    Call call;
    unique_fd fifo;
    OwnDescriptor path;
};

}  // namespace

int WaitingOpens::start(const seccomp_notif& notification, const Call& call, unique_fd fifo) {
    const auto waiting = std::make_shared<Waiting>(call, std::move(fifo));
    const std::uint64_t flags = (call.how.flags & ~std::uint64_t{O_CREAT | O_NOFOLLOW}) | O_CLOEXEC;
    return opens_.start({notification.id,
                         static_cast<pid_t>(notification.pid),
                         SYS_openat,
                         {AT_FDCWD, sys::word(waiting->path.path()), static_cast<long>(flags), 0},
                         waiting});
}

bool WaitingOpens::on_child(pid_t pid, const Done& done) {
    const auto ended = opens_.on_child(pid);
    if (!ended) return false;
    spoiled_ = spoiled_ || ended->unknown;
    const auto& waiting = *static_cast<const Waiting*>(ended->call.kept.get());
    done(ended->call.cookie, waiting.call, unique_fd(ended->value < 0 ? -1 : ended->value),
         ended->value < 0 ? ended->value : 0);
    return true;
}

}  // namespace sandpipe::launcher
