#include "sandbox/cell_failure.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace sandpipe {
namespace {

constexpr const char* kWeaker = ", or go on without it by name (enable_weaker_nested_sandbox, --weaker-nested)";

constexpr std::string_view kFilter = "filter";  // else Stage::seccomp names the key that needs a supervisor

/// As in a container or in another sandbox, this one included: proc_pid_status(5).
bool has_seccomp_filter() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("Seccomp:")) return line.ends_with('2');
    return false;
}

std::string namespaces_remedy(int error) {
    if (error == ENOSPC) return "; the limit of namespaces is reached: raise sysctl user.max_user_namespaces";
    if (has_seccomp_filter())
        return "; this process runs under a seccomp filter, as in a container or in another sandbox, that refuses"
               " namespaces: give the container a profile that permits clone and unshare with CLONE_NEWUSER; a sandbox"
               " in a sandbox is not possible";
    return "; user namespaces are restricted here: allow them (sysctl kernel.unprivileged_userns_clone=1,"
           " kernel.apparmor_restrict_unprivileged_userns=0, or a container profile that permits unshare)";
}

std::string supervisor_remedy(int error) {
    if (error == EBUSY)
        return "; this process runs below another seccomp listener, as in a sandbox that supervises it, and the kernel"
               " allows no second one: run it outside of that, or with a policy that does not need this";
    return "; the kernel needs seccomp with user notification (5.14 or later), and nothing that forbids to use it, nor"
           " process_vm_readv and pidfd_getfd";
}

std::string remedy(const wire::Failure& failure) {
    if (failure.error == EMFILE || failure.error == ENFILE) return "; see ulimit -n";
    switch (failure.stage) {
        case Stage::namespaces:
            return namespaces_remedy(failure.error);
        case Stage::landlock:
            return "; the kernel needs Landlock (5.13 or later, with lsm=landlock)";
        case Stage::seccomp:
            if (failure.path == kFilter) return "; the kernel needs seccomp filters, and nothing that forbids them";
            return supervisor_remedy(failure.error);
        case Stage::mounts:
            if (failure.error == EPERM && failure.path == "/proc")
                return "; /proc is partly hidden here, as in a container, and the kernel then allows no other: run the"
                       " container with an unmasked /proc";
            return {};
        default:
            return {};
    }
}

/// What a weaker session may do without, as the launcher sees it too.
bool could_be_given_up(const wire::Failure& failure) {
    const bool supervisor = failure.stage == Stage::seccomp && failure.path != kFilter &&
                            failure.path.find("denyRead") == std::string::npos;
    const bool proc = failure.stage == Stage::mounts && failure.error == EPERM && failure.path == "/proc";
    return supervisor || proc || failure.stage == Stage::landlock;
}

/// A refusal of the machine, as against a path that is wrong or a step that broke.
bool machine_refuses(const wire::Failure& failure) {
    switch (failure.stage) {
        case Stage::namespaces:
        case Stage::landlock:
        case Stage::seccomp:
            return true;
        default:
            return failure.error == EPERM || failure.error == ENOSYS;
    }
}

/// All places were resolved before: neither missing, nor behind a link.
bool has_changed(const wire::Failure& failure) {
    const bool names_place = failure.stage == Stage::mounts || failure.stage == Stage::landlock;
    const int error = failure.error;
    return names_place && (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ESTALE);
}

}  // namespace

void throw_cell_failure(const wire::Failure& failure, bool weaker) {
    const Errc code = machine_refuses(failure) ? Errc::sandbox_unsupported_env : Errc::sandbox_failed;
    const bool supervisor = failure.stage == Stage::seccomp && failure.path != kFilter;
    const std::string what = supervisor ? "a seccomp supervisor for" : std::string(to_string(failure.stage));
    const std::string text = "the sandbox could not be made: " + what + " " + failure.path + ": " +
                             std::strerror(failure.error) + remedy(failure);
    if (has_changed(failure)) throw PlaceChanged(code, text + "; something replaced it while the session was made");
    throw Error(code, text + (!weaker && could_be_given_up(failure) ? kWeaker : ""));
}

}  // namespace sandpipe
