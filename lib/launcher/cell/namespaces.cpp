#include "launcher/cell/namespaces.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

#include "sys/descriptors.hpp"
#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

struct Dispensable {
    const char* mechanism;
    unsigned long flag;
};

// In the order of what is lost with them. A set is a number with a bit for each, so those that lose less come first.
constexpr Dispensable kDispensable[] = {
    {"uts", sys::kCloneNewUts}, {"ipc", sys::kCloneNewIpc}, {"user_namespace", sys::kCloneNewUser}};

unsigned number_of_sets(bool allow_weaker) {
    if (!allow_weaker) return 1;
    // Without a namespace of users only root may make the others.
    return 1U << (std::size(kDispensable) - (::geteuid() == 0 ? 0 : 1));
}

unsigned long flags_without(unsigned long all, unsigned set) {
    for (std::size_t i = 0; i < std::size(kDispensable); ++i)
        if (set & (1U << i)) all &= ~kDispensable[i].flag;
    return all;
}

CellNamespaces describe(unsigned long flags, unsigned set, int error) {
    CellNamespaces made;
    made.user = (flags & sys::kCloneNewUser) != 0;
    made.uts = (flags & sys::kCloneNewUts) != 0;
    for (std::size_t i = 0; i < std::size(kDispensable); ++i)
        if (set & (1U << i)) made.given_up.push_back({kDispensable[i].mechanism, error});
    return made;
}

}  // namespace

pid_t fork_into(unsigned long namespaces) noexcept {
    return static_cast<pid_t>(sys::raw_syscall(SYS_clone, static_cast<long>(namespaces | SIGCHLD)));
}

pid_t fork_into_cell(const wire::SessionPlan& plan, CellNamespaces& namespaces) {
    unsigned long all = sys::kCloneNewUser | sys::kCloneNewNs | sys::kCloneNewIpc | sys::kCloneNewUts;
    if (plan.own_network) all |= sys::kCloneNewNet;
    int first_error = 0;
    for (unsigned set = 0; set < number_of_sets(plan.allow_weaker); ++set) {
        const unsigned long flags = flags_without(all, set);
        const pid_t cell = fork_into(flags);
        if (cell >= 0) {
            namespaces = describe(flags, set, -first_error);
            return cell;
        }
        if (first_error == 0) first_error = cell;
        if (sys::is_shortage(-cell)) break;
    }
    return first_error;
}

}  // namespace sandpipe::launcher
