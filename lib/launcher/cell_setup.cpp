#include "launcher/cell_setup.hpp"

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "launcher/file_view.hpp"
#include "launcher/landlock.hpp"
#include "launcher/network.hpp"
#include "launcher/privileges.hpp"
#include "launcher/proc_view.hpp"
#include "launcher/seccomp_filter.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::string_view kHostName = "sandpipe";
constexpr std::uint64_t kInitCapabilities = std::uint64_t{1} << CAP_SYS_PTRACE;

Outcome lay_out(const wire::SessionPlan& plan, Masks& masks) {
    if (Outcome failure = lay_out_files(plan, masks)) return failure;
    // The cwd is still a place below what was mounted, and /proc/self/cwd would lead commands there.
    return ::chdir("/") == 0 ? Outcome{} : fail(Stage::mounts, errno, "/");
}

Outcome set_up_network(const wire::SessionPlan& plan, Confinement& confinement) {
    if (!plan.own_network) return {};
    if (const int error = bring_up_loopback(); error < 0) return fail(Stage::network, -error, "lo");
    confinement.facts.network_namespace = true;
    for (const std::uint16_t port : plan.proxy_ports)
        if (const int error = listen_on_loopback(port, confinement.listeners.emplace_back()); error < 0)
            return fail(Stage::network, -error, "127.0.0.1:" + std::to_string(port));
    return {};
}

Outcome set_up_identity() {
    if (::sethostname(kHostName.data(), kHostName.size()) < 0)
        return fail(Stage::namespaces, errno, "hostname");
    // The host's session keyring is no longer that of the commands. Should the kernel have no keyrings or no
    // room for one more, the filter still refuses every call on keys.
    sys::raw_syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0);
    return {};
}

Outcome prepare_landlock(const wire::SessionPlan& plan, Confinement& confinement) {
    confinement.facts.landlock_abi = landlock_abi();
    return plan.filesystem_enforced ? make_rulesets(plan, confinement) : Outcome{};
}

Outcome prepare_filter(const wire::SessionPlan& plan, Confinement& confinement) {
    const NotificationSupport support = probe_notifications();
    confinement.facts.denials = support.listener;
    confinement.facts.wait_killable = support.wait_killable;
    Supervision supervision;
    supervision.exists = support.listener;
    supervision.files = plan.filesystem_enforced;
    supervision.reads = plan.filesystem_enforced && plan.rules.denies_reads();
    supervision.executes = plan.filesystem_enforced && plan.rules.restrict_execute;
    // Without it a loader would start what Landlock does not let start.
    if (supervision.executes && !supervision.exists)
        return fail(Stage::seccomp, ENOSYS, "allowExecute needs notifications");
    if (plan.rules.writes_on_behalf() && !supervision.exists)
        return fail(Stage::seccomp, ENOSYS, "allowGitInit needs notifications");
    return make_filter(supervision, confinement.filter);
}

/// Everything that is made in the cell gets the mode that is asked for.
class ExactModes {
  public:
    ExactModes() : before_(::umask(0)) {}
    ExactModes(const ExactModes&) = delete;
    ExactModes& operator=(const ExactModes&) = delete;
    ~ExactModes() { ::umask(before_); }

  private:
    mode_t before_;
};

int give_up_privileges() {
    int error = empty_bounding_set();
    if (error == 0) error = keep_capabilities(kInitCapabilities);
    if (error == 0) error = set_no_new_privs();
    // Commands have the same user: what is undumpable they can neither trace nor read (ptrace(2)).
    if (error == 0 && ::prctl(PR_SET_DUMPABLE, 0) < 0) error = -errno;
    return error;
}

}  // namespace

Outcome set_up_cell(const wire::SessionPlan& plan, Confinement& confinement) {
    const ExactModes exact_modes;
    if (Outcome failure = lay_out(plan, confinement.masks)) return failure;
    if (Outcome failure = set_up_network(plan, confinement)) return failure;
    if (Outcome failure = set_up_identity()) return failure;
    if (Outcome failure = prepare_landlock(plan, confinement)) return failure;
    confinement.session_file.reset(::memfd_create("sandpipe-session", MFD_CLOEXEC));
    if (!confinement.session_file) return fail(Stage::resources, errno, "session file");
    return prepare_filter(plan, confinement);
}

Outcome set_up_init(const wire::SessionPlan& plan, const Confinement& confinement) {
    if (Outcome failure = mount_proc(plan)) return failure;
    if (const int error = give_up_privileges(); error < 0) return fail(Stage::capabilities, -error, "init");
    if (!confinement.outer_ruleset) return {};
    const int error = enter_domain(confinement.outer_ruleset.get());
    return error < 0 ? fail(Stage::landlock, -error, "init") : Outcome{};
}

}  // namespace sandpipe::launcher
