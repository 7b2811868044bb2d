#include "launcher/command/exec_program.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>

#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

using sys::raw_syscall;
using sys::word;

void pause_ms(long milliseconds) noexcept {
    const timespec time{0, milliseconds * 1'000'000};
    raw_syscall(SYS_nanosleep, word(&time), 0);
}

/// execve, with short retries for what passes by itself: another process that still holds a fresh program
/// open for writing (ETXTBSY), and processes being short (EAGAIN). Together at most about half a second.
long try_exec(const ExecRequest& request, const char* program) noexcept {
    for (long pause = 1;; pause *= 2) {
        const long error = -raw_syscall(SYS_execve, word(program), word(request.argv), word(request.envp));
        if ((error != ETXTBSY && error != EAGAIN) || pause > 256) return error;
        pause_ms(pause);
    }
}

/// 0: a file is there. EISDIR: a directory. Else why it cannot be looked at, ENOENT for one.
long look_at(const char* path) noexcept {
    struct stat facts;
    const long error = -raw_syscall(SYS_newfstatat, AT_FDCWD, word(path), word(&facts), 0);
    if (error != 0) return error;
    return S_ISDIR(facts.st_mode) ? EISDIR : 0;
}

Stage stage_of(long error) noexcept {
    switch (error) {
        case E2BIG:
            return Stage::arguments;
        case EACCES:
        case EPERM:
            return Stage::permission;
        case EAGAIN:
        case ENOMEM:
        case EMFILE:
        case ENFILE:
            return Stage::resources;
        case ELIBBAD:
            return Stage::interpreter;
        default:
            return Stage::program;
    }
}

/// What one try says, where execve gave `error`. A file whose interpreter is missing, or a script
/// like itself without end, is not a missing file.
ExecFailure judge(long error, long look, std::size_t program) noexcept {
    ExecFailure failure;
    failure.error = static_cast<std::int32_t>(look == EISDIR ? EACCES : error);
    failure.program = static_cast<std::int32_t>(program);
    if (look == 0 && (error == ENOENT || error == ELOOP))
        failure.stage = Stage::interpreter;
    else if (look != EISDIR)
        failure.stage = stage_of(error);
    return failure;
}

/// Goes through PATH as a shell does. What is not there, cannot be looked at or is a directory is passed over; a file
/// that may not be executed too, but that one is remembered; every other failure of a file ends the search.
ExecFailure search(const ExecRequest& request) noexcept {
    ExecFailure missing;
    missing.error = ENOENT;
    ExecFailure found;
    for (std::size_t i = 0; i < request.count; ++i) {
        const long error = try_exec(request, request.programs[i]);
        const long look = look_at(request.programs[i]);
        if (look == 0 && (found.program < 0 || error != EACCES)) found = judge(error, look, i);
        if (look == 0 && error != EACCES) return found;
        if (look == 0 || look == ENOENT || look == ENOTDIR || missing.passed_over >= 0) continue;
        missing.passed_over = static_cast<std::int32_t>(i);
        missing.passed_over_error = static_cast<std::int32_t>(look);
    }
    return found.program >= 0 ? found : missing;
}

}  // namespace

ExecFailure exec_program(const ExecRequest& request) noexcept {
    if (request.search) return search(request);
    const long error = try_exec(request, request.programs[0]);
    return judge(error, look_at(request.programs[0]), 0);
}

}  // namespace sandpipe::launcher
