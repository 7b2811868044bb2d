#include "launcher/supervisor/supervised_interpreter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "launcher/kernel/own_descriptor.hpp"
#include "sys/elf.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kMaxInterpreters = 5;  // of scripts of scripts; with more the kernel says ELOOP

/// What `program` names as its interpreter; "" if it has none, or is nothing that the caller could start.
std::string interpreter_of(const Spot& program) {
    const OwnDescriptor object(program.object.get());
    // Mode bits and noexec mounts hold for this process as for the caller: neither has a capability over files.
    if (program.kind != Kind::file || ::faccessat(AT_FDCWD, object.path(), X_OK, AT_EACCESS) < 0) return {};
    const unique_fd file(::open(object.path(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return file ? sys::read_program_facts(file.get()).interpreter : std::string();
}

}  // namespace

InterpreterVerdict judge_interpreters(const wire::AccessRules& rules, const Caller& caller, const Spot& program) {
    InterpreterVerdict verdict;
    Spot next;
    verdict.path = interpreter_of(program);
    for (int i = 0; i < kMaxInterpreters && !verdict.path.empty(); ++i) {
        const std::string from = i == 0 ? program.place : next.place;
        Resolver resolver(caller);
        const int error = resolver.find_target(AT_FDCWD, verdict.path, next);
        verdict.resolved = error == 0 ? next.place : resolver.blocked_place(AT_FDCWD, verdict.path);
        verdict.judgement = judge_read(rules, verdict.resolved);
        if (verdict.judgement.decision == Decision::proceed && error == 0)
            verdict.judgement = judge_execute(rules, next.site());
        if (verdict.judgement.decision == Decision::deny) {
            verdict.judgement.rule += " (interpreter of " + from + ")";
            return verdict;
        }
        verdict.path = error == 0 ? interpreter_of(next) : std::string();
    }
    return {};
}

}  // namespace sandpipe::launcher
