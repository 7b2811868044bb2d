#include "launcher/command/confine.hpp"

#include <linux/seccomp.h>

#include "launcher/kernel/landlock.hpp"
#include "launcher/kernel/privileges.hpp"
#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

unsigned long filter_flags(const ConfineSteps& steps) noexcept {
    if (!steps.notify) return 0;
    return sys::kSeccompFilterFlagNewListener |
           (steps.wait_killable ? sys::kSeccompFilterFlagWaitKillableRecv : 0UL);
}

int give_up_privileges() noexcept {
    int error = empty_bounding_set();
    if (error == 0) error = keep_capabilities(0);
    return error == 0 ? set_no_new_privs() : error;
}

}  // namespace

ConfineResult confine_self(const ConfineSteps& steps) noexcept {
    if (const int error = give_up_privileges(); error < 0) return {Stage::capabilities, -error, -1};
    if (steps.inner_ruleset >= 0)
        if (const int error = enter_domain(steps.inner_ruleset); error < 0)
            return {Stage::landlock, -error, -1};
    if (steps.filter.len == 0) return {};
    const long installed = sys::raw_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                            static_cast<long>(filter_flags(steps)), sys::word(&steps.filter));
    if (installed < 0) return {Stage::seccomp, static_cast<int>(-installed), -1};
    return {Stage::seccomp, 0, steps.notify ? static_cast<int>(installed) : -1};
}

}  // namespace sandpipe::launcher
