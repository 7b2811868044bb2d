#include "launcher/supervisor/denied_message.hpp"

#include <seccomp.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdlib>

#include "launcher/kernel/architecture.hpp"
#include "launcher/supervisor/socket_words.hpp"

namespace sandpipe::launcher {
namespace {

std::string name_of(int number, std::uint32_t architecture = SCMP_ARCH_NATIVE) {
    char* name = ::seccomp_syscall_resolve_num_arch(architecture, number);
    std::string text = name ? name : "system call " + std::to_string(number);
    std::free(name);
    return text;
}

}  // namespace

wire::Denied denied_message(const Call& call, const Answer& answer) {
    wire::Denied denied;
    denied.kind = static_cast<std::uint8_t>(answer.kind);
    denied.operation = call.operation;
    denied.path = call.on_descriptor ? answer.resolved : call.path;
    if (!answer.path.empty()) denied.path = answer.path;
    denied.resolved = answer.resolved;
    denied.second_path = call.second_path;
    denied.second_resolved = answer.second_resolved;
    denied.error = answer.judgement.error;
    denied.rule = answer.judgement.rule;
    return denied;
}

wire::Denied denied_message(const NotifiedCall& row, const SocketAnswer& answer) {
    wire::Denied denied;
    denied.kind = static_cast<std::uint8_t>(answer.kind);
    denied.operation = row.operation;
    denied.path = answer.path;
    denied.resolved = answer.resolved;
    denied.host = answer.host;
    denied.port = answer.port;
    denied.error = answer.judgement.error;
    denied.rule = answer.judgement.rule;
    return denied;
}

wire::Denied denied_message(const seccomp_data& foreign) {
    // What libseccomp calls an architecture is the kernel's own name for it, but for x32.
    const bool x32 = foreign.arch == kNativeArchitecture;
    wire::Denied denied;
    denied.kind = static_cast<std::uint8_t>(DenialKind::syscall);
    denied.operation = name_of(foreign.nr, x32 ? SCMP_ARCH_X32 : foreign.arch);
    denied.error = ENOSYS;
    denied.rule = x32 ? "only this architecture's own system calls: it is one of x32"
                      : "only this architecture's own system calls: it is one of a 32-bit program";
    return denied;
}

wire::Denied denied_message(const seccomp_data& call, const Refusal& refusal) {
    wire::Denied denied;
    const bool socket = call.nr == __NR_socket || call.nr == __NR_socketpair;
    denied.kind = static_cast<std::uint8_t>(socket ? DenialKind::socket : DenialKind::syscall);
    denied.operation = name_of(call.nr);
    denied.error = refusal.error;
    denied.rule = socket ? refusal.rule + (": " + socket_words(call)) : refusal.rule;
    denied.probe = refusal.probe;
    return denied;
}

}  // namespace sandpipe::launcher
