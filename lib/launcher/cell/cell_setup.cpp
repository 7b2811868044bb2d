#include "launcher/cell/cell_setup.hpp"

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "launcher/cell/network.hpp"
#include "launcher/cell/rulesets.hpp"
#include "launcher/cell/supervision_need.hpp"
#include "launcher/kernel/features.hpp"
#include "launcher/kernel/landlock.hpp"
#include "launcher/kernel/privileges.hpp"
#include "launcher/kernel/seccomp_filter.hpp"
#include "launcher/view/file_view.hpp"
#include "launcher/view/proc_view.hpp"
#include "sys/descriptors.hpp"
#include "sys/kernel.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

// A name that /etc/hosts has: programs look up their own host's (git for an author's address, Java, MPI), and no name
// server can be asked.
constexpr std::string_view kHostName = "localhost";
constexpr std::uint64_t kInitCapabilities = std::uint64_t{1} << CAP_SYS_PTRACE;

Outcome lay_out(const wire::SessionPlan& plan, Confinement& confinement) {
    if (Outcome failure = lay_out_files(plan, confinement.masks, confinement.host)) return failure;
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

Outcome set_up_identity(bool own_name) {
    if (own_name && ::sethostname(kHostName.data(), kHostName.size()) < 0)
        return fail(Stage::namespaces, errno, "hostname");
    // The host's session keyring is no longer that of the commands. Should the kernel have no keyrings or no
    // room for one more, the filter still refuses every call on keys.
    sys::raw_syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0);
    return {};
}

bool is_given_up(const Confinement& confinement, const std::string& mechanism) {
    const auto& given_up = confinement.facts.given_up;
    return std::any_of(given_up.begin(), given_up.end(),
                       [&](const wire::GivenUp& given) { return given.mechanism == mechanism; });
}

/// The only way to go on without something: by its name, and where the plan allows it.
Outcome do_without(const wire::SessionPlan& plan, Confinement& confinement, const std::string& mechanism,
                   const wire::Failure& refused) {
    if (!plan.allow_weaker) return refused;
    if (!is_given_up(confinement, mechanism)) confinement.facts.given_up.push_back({mechanism, refused.error});
    return {};
}

/// An init that finds out too late would fail the session. In namespaces of its own, which end with it.
int try_to_mount_proc(const wire::SessionPlan& plan) {
    const pid_t child = fork_into(sys::kCloneNewPid | sys::kCloneNewNs);
    if (child < 0) return -child;
    if (child == 0) {
        const Outcome failure = mount_proc(plan);
        ::_exit(failure ? failure->error & 0xff : 0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

/// The masks stay on /proc, which hides all of it. A supervisor knows its callers by their /proc.
Outcome prepare_proc(const wire::SessionPlan& plan, Confinement& confinement) {
    if (!plan.allow_weaker) return {};
    const int error = try_to_mount_proc(plan);
    if (error != EPERM && error != EACCES) return {};
    confinement.own_proc = false;
    confinement.facts.listener_error = error;
    return do_without(plan, confinement, "proc", {Stage::mounts, error, std::string(kProc)});
}

Outcome prepare_supervision(const wire::SessionPlan& plan, Confinement& confinement) {
    wire::EnforcementFacts& facts = confinement.facts;
    const Features& found = features();
    if (facts.listener_error == 0) facts.listener_error = found.listener_error;
    facts.denials = facts.listener_error == 0;
    facts.addfd_send = found.addfd_send;
    facts.wait_killable = found.wait_killable;
    if (facts.denials) return {};
    for (const SupervisionNeed& need : supervision_needs(plan)) {
        const wire::Failure refused{Stage::seccomp, facts.listener_error, need.key};
        if (!need.dispensable) return refused;
        if (Outcome failure = do_without(plan, confinement, need.mechanism, refused)) return failure;
    }
    // Nothing is enforced less: what is refused is not told, and the report says that.
    return plan.allow_weaker ? do_without(plan, confinement, "denials", {Stage::seccomp, facts.listener_error, {}})
                             : Outcome{};
}

/// Without the inner domain a call that is let through to the kernel may lead elsewhere than what was judged.
Outcome prepare_landlock(const wire::SessionPlan& plan, Confinement& confinement) {
    confinement.facts.landlock_abi = features().landlock_abi;
    if (!plan.filesystem_enforced) return {};
    if (confinement.facts.landlock_abi > 0) return make_rulesets(plan, confinement);
    const wire::Failure missing{Stage::landlock, ENOSYS, "Landlock"};
    // Then nothing would be left of it.
    if (plan.rules.restrict_execute && !confinement.facts.denials) return missing;
    if (Outcome failure = do_without(plan, confinement, "landlock", missing)) return failure;
    for (const SupervisionNeed& need : supervision_needs(plan))
        if (need.mechanism == "names" || need.mechanism == "execution")
            if (Outcome failure = do_without(plan, confinement, need.mechanism, missing)) return failure;
    return {};
}

Outcome prepare_filter(const wire::SessionPlan& plan, Confinement& confinement) {
    if (const int error = features().filter_error; error != 0) return fail(Stage::seccomp, error, "filter");
    Supervision supervision;
    supervision.exists = confinement.facts.denials;
    supervision.files = plan.filesystem_enforced;
    supervision.network = plan.own_network;
    supervision.reads = plan.filesystem_enforced && plan.rules.denies_reads();
    supervision.executes = plan.filesystem_enforced && plan.rules.restrict_execute;
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

Outcome set_up_cell(const wire::SessionPlan& plan, const CellNamespaces& namespaces, Confinement& confinement) {
    const ExactModes exact_modes;
    confinement.facts.user_namespace = namespaces.user;
    confinement.facts.given_up = namespaces.given_up;
    if (Outcome failure = lay_out(plan, confinement)) return failure;
    if (Outcome failure = set_up_network(plan, confinement)) return failure;
    if (Outcome failure = set_up_identity(namespaces.uts)) return failure;
    if (Outcome failure = prepare_proc(plan, confinement)) return failure;
    if (Outcome failure = prepare_supervision(plan, confinement)) return failure;
    if (Outcome failure = prepare_landlock(plan, confinement)) return failure;
    confinement.session_file.reset(::memfd_create("sandpipe-session", MFD_CLOEXEC));
    if (!confinement.session_file) return fail(Stage::resources, errno, "session file");
    return prepare_filter(plan, confinement);
}

ConfineSteps confine_steps(const Confinement& confinement) {
    ConfineSteps steps;
    steps.inner_ruleset = confinement.inner_ruleset ? confinement.inner_ruleset.get() : -1;
    steps.filter.len = static_cast<unsigned short>(confinement.filter.size());
    steps.filter.filter = const_cast<sock_filter*>(confinement.filter.data());
    steps.wait_killable = confinement.facts.wait_killable;
    steps.notify = confinement.facts.denials;
    return steps;
}

Outcome set_up_init(const wire::SessionPlan& plan, const Confinement& confinement) {
    if (confinement.own_proc)
        if (Outcome failure = mount_proc(plan)) return failure;
    if (const int error = give_up_privileges(); error < 0) return fail(Stage::capabilities, -error, "init");
    if (!confinement.outer_ruleset) return {};
    const int error = enter_domain(confinement.outer_ruleset.get());
    return error < 0 ? fail(Stage::landlock, -error, "init") : Outcome{};
}

}  // namespace sandpipe::launcher
