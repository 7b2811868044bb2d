#include "launcher/kernel/landlock.hpp"

#include <algorithm>

#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kScopeAbi = 6;

}  // namespace

int landlock_abi() noexcept {
    const long abi = sys::raw_syscall(SYS_landlock_create_ruleset, 0, 0, sys::kLandlockCreateRulesetVersion);
    return std::max(static_cast<int>(abi), 0);
}

int make_ruleset(int abi, std::uint64_t rights, unique_fd& ruleset) noexcept {
    sys::LandlockRulesetAttr attributes;
    attributes.handled_access_fs = rights;
    // A domain's own descendants stay in its scope: an init signals its command, never the other way round.
    if (abi >= kScopeAbi) attributes.scoped = sys::kLandlockScopeAbstractUnixSocket | sys::kLandlockScopeSignal;
    // Older kernels take a larger structure as long as what they do not know is zero.
    const long made = sys::raw_syscall(SYS_landlock_create_ruleset, sys::word(&attributes), sizeof attributes, 0);
    if (made < 0) return static_cast<int>(made);
    ruleset.reset(static_cast<int>(made));
    return 0;
}

int add_rule(int ruleset, int place, std::uint64_t rights) noexcept {
    sys::LandlockPathBeneathAttr rule;
    rule.allowed_access = rights;
    rule.parent_fd = place;
    return static_cast<int>(
        sys::raw_syscall(SYS_landlock_add_rule, ruleset, sys::kLandlockRulePathBeneath, sys::word(&rule), 0));
}

int enter_domain(int ruleset) noexcept {
    return static_cast<int>(sys::raw_syscall(SYS_landlock_restrict_self, ruleset, 0));
}

}  // namespace sandpipe::launcher
