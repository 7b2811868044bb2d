#include "launcher/kernel/privileges.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>

#include <cerrno>

#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kMostCapabilities = 64;

}  // namespace

int empty_bounding_set() noexcept {
    for (int capability = 0; capability < kMostCapabilities; ++capability) {
        const long present = sys::raw_syscall(SYS_prctl, PR_CAPBSET_READ, capability);
        if (present == -EINVAL) return 0;  // past the last one that this kernel has
        if (present < 0) return static_cast<int>(present);
        if (present == 0) continue;
        if (const long error = sys::raw_syscall(SYS_prctl, PR_CAPBSET_DROP, capability); error < 0)
            return static_cast<int>(error);
    }
    return 0;
}

int keep_capabilities(std::uint64_t mask) noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; ++word)
        data[word].permitted = data[word].effective = static_cast<std::uint32_t>(mask >> (32 * word));
    return static_cast<int>(sys::raw_syscall(SYS_capset, sys::word(&header), sys::word(data)));
}

int set_no_new_privs() noexcept {
    return static_cast<int>(sys::raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

}  // namespace sandpipe::launcher
