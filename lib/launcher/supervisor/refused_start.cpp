#include "launcher/supervisor/refused_start.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "launcher/supervisor/denied_message.hpp"
#include "launcher/supervisor/new_repositories.hpp"
#include "launcher/supervisor/supervised_act.hpp"

namespace sandpipe::launcher {
namespace {

bool is_about_files(Stage stage) {
    return stage == Stage::cwd || stage == Stage::program || stage == Stage::interpreter || stage == Stage::permission;
}

/// What was not found may be what could not be looked at in the one directory of PATH where it is.
const std::string& path_at_fault(const wire::Failure& failure) {
    const bool elsewhere = failure.path.find('/') == std::string::npos && failure.passed_over_error == EACCES;
    return elsewhere ? failure.passed_over : failure.path;
}

Call call_on(int number, std::string path) {
    Call call;
    call.row = find_notified_call(number);
    call.operation = call.row->operation;
    call.directory = AT_FDCWD;
    call.path = std::move(path);
    return call;
}

}  // namespace

std::optional<wire::Denied> refused_start(const wire::AccessRules& rules, const wire::Failure& failure,
                                          const std::string& cwd) {
    const bool may_be = failure.error == EACCES || failure.error == ENOENT;
    const std::string& path = path_at_fault(failure);
    if (!may_be || !is_about_files(failure.stage) || path.find('/') == std::string::npos) return {};
    const int number = failure.stage == Stage::cwd ? __NR_chdir : __NR_execve;
    Call call = call_on(number, path.starts_with('/') ? path : cwd + "/" + path);
    NewRepositories none(rules);
    const Answer answer = answer_call(rules, none, {}, Caller(::getpid()), call, [] { return true; });
    if (answer.judgement.decision != Decision::deny) return {};
    call.path = path;
    return denied_message(call, answer);
}

}  // namespace sandpipe::launcher
