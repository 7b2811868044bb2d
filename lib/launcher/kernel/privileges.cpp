#include "launcher/kernel/privileges.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>

#include <cerrno>

#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kMostCapabilities = 64;

/// capget(2) and capset(2).
class Sets {
  public:
    [[nodiscard]] int read() noexcept {
        return static_cast<int>(sys::raw_syscall(SYS_capget, sys::word(&header_), sys::word(data_)));
    }
    [[nodiscard]] int write() noexcept {
        return static_cast<int>(sys::raw_syscall(SYS_capset, sys::word(&header_), sys::word(data_)));
    }
    [[nodiscard]] std::uint64_t effective() const noexcept {
        return data_[0].effective | std::uint64_t{data_[1].effective} << 32;
    }
    void set_effective(std::uint64_t mask) noexcept {
        for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; ++word)
            data_[word].effective = static_cast<std::uint32_t>(mask >> (32 * word));
    }
    void set_permitted(std::uint64_t mask) noexcept {
        for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; ++word)
            data_[word].permitted = static_cast<std::uint32_t>(mask >> (32 * word));
    }

  private:
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data_[_LINUX_CAPABILITY_U32S_3] = {};
};

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
    Sets sets;
    sets.set_permitted(mask);
    sets.set_effective(mask);
    return sets.write();
}

int set_no_new_privs() noexcept {
    return static_cast<int>(sys::raw_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

WithoutCapabilities::WithoutCapabilities() noexcept {
    Sets sets;
    if (sets.read() < 0) return;
    before_ = sets.effective();
    sets.set_effective(0);
    aside_ = sets.write() == 0;
}

WithoutCapabilities::~WithoutCapabilities() {
    Sets sets;
    if (!aside_ || sets.read() < 0) return;
    sets.set_effective(before_);
    (void)sets.write();  // they are permitted
}

}  // namespace sandpipe::launcher
