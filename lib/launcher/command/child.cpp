#include "launcher/command/child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "launcher/command/exec_program.hpp"
#include "launcher/kernel/features.hpp"
#include "launcher/kernel/proc_file.hpp"
#include "sys/close_range.hpp"
#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {

using sys::raw_syscall;
using sys::word;

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kKeptStacks = 16;
constexpr unsigned kForkNoExec = 0x40;  // PF_FORKNOEXEC

/// What the child sends: how far it came, or what stopped it.
struct Report {
    std::uint32_t confined = 0;  // 1: no failure; the listener travels with it
    ExecFailure failure;
};

/// Stacks for children, kept for the next one.
std::vector<void*>& free_stacks() {
    static std::vector<void*> stacks;
    return stacks;
}

void* take_stack() {
    auto& stacks = free_stacks();
    if (!stacks.empty()) {
        void* stack = stacks.back();
        stacks.pop_back();
        return stack;
    }
    void* stack =
        ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return stack == MAP_FAILED ? nullptr : stack;
}

void give_back_stack(void* stack) {
    auto& stacks = free_stacks();
    if (stacks.size() < kKeptStacks)
        stacks.push_back(stack);
    else
        ::munmap(stack, kStackBytes);
}

}  // namespace

/// All that the child reads, laid out before it exists. It must outlive the child's execve.
struct Child::Script {
    std::vector<const char*> programs;
    std::vector<char*> argv;
    std::vector<char*> envp;
    ExecRequest exec;
    const char* cwd = nullptr;
    std::array<int, 3> stdio{};
    int channel = -1;
    ChildSettings settings;
    ConfineSteps confine;
    void* stack = nullptr;
};

namespace {

// ---- In the child: raw system calls only. It shares memory with its parent, errno and the heap included.
// ----

void send_report(const Child::Script& script, Report report, int listener) noexcept {
    iovec part{&report, sizeof report};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (listener >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        auto* rights = reinterpret_cast<cmsghdr*>(control);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        __builtin_memcpy(CMSG_DATA(rights), &listener, sizeof listener);
    }
    // Marked, because the filter that may be in force by now has no listener yet (`Notified::unmarked`).
    raw_syscall(SYS_sendmsg, script.channel, word(&header), MSG_NOSIGNAL | MSG_CONFIRM);
}

[[noreturn]] void give_up(const Child::Script& script, const ExecFailure& failure) noexcept {
    Report report;
    report.failure = failure;
    send_report(script, report, -1);
    for (;;) raw_syscall(SYS_exit_group, 127);
}

[[noreturn]] void give_up(const Child::Script& script, Stage stage, long error) noexcept {
    ExecFailure failure;
    failure.stage = stage;
    failure.error = static_cast<std::int32_t>(error);
    give_up(script, failure);
}

/// Closes everything but 0 to 2, the channel and the ruleset: a start that hangs must not hold the pipes of
/// other commands, which are open here only because descriptors are copied by clone.
void close_foreign(const Child::Script& script) noexcept {
    const int ruleset = script.confine.inner_ruleset;
    const auto low = static_cast<unsigned>(ruleset < 0 ? script.channel : std::min(script.channel, ruleset));
    const auto high = static_cast<unsigned>(std::max(script.channel, ruleset));
    const bool by_call = may_use_close_range();
    int error = sys::close_range(3, low - 1, by_call);
    if (error == 0 && high > low) error = sys::close_range(low + 1, high - 1, by_call);
    if (error == 0) error = sys::close_range(high + 1, ~0U, by_call);
    if (error < 0) give_up(script, Stage::resources, -error);
}

void lay_out_descriptors(const Child::Script& script) noexcept {
    // All sources are 3 or more, so no copy overwrites a source that is still needed.
    for (int target = 0; target < 3; ++target) {
        const long error = raw_syscall(SYS_dup3, script.stdio[static_cast<std::size_t>(target)], target, 0);
        if (error < 0) give_up(script, Stage::resources, -error);
    }
    close_foreign(script);
}

void confine(const Child::Script& script) noexcept {
    const ConfineResult result = confine_self(script.confine);
    if (result.error != 0) give_up(script, result.stage, result.error);
    Report report;
    report.confined = 1;
    send_report(script, report, result.listener);
}

int run_child(void* argument) noexcept {
    const auto& script = *static_cast<const Child::Script*>(argument);
    if (script.settings.own_session)
        raw_syscall(SYS_setsid);
    else
        raw_syscall(SYS_setpgid, 0, 0);
    if (script.settings.parent != 0) {
        raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
        if (raw_syscall(SYS_getppid) != script.settings.parent) raw_syscall(SYS_exit_group, 127);
    }
    lay_out_descriptors(script);
    raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, word(&script.settings.open_files), 0);
    if (script.settings.mark) raw_syscall(SYS_prlimit64, 0, RLIMIT_LOCKS, word(&*script.settings.mark), 0);
    const std::uint64_t no_signals = 0;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, word(&no_signals), 0, sizeof no_signals);
    if (script.cwd)
        if (const long error = raw_syscall(SYS_chdir, word(script.cwd)); error < 0)
            give_up(script, Stage::cwd, -error);
    if (script.settings.confine) confine(script);
    give_up(script, exec_program(script.exec));
}

// ---- In the parent ----

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

}  // namespace

std::int64_t monotonic_ns() noexcept {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

Child::Child(wire::StartCommand command, std::vector<unique_fd> stdio, const ChildSettings& settings)
    : script_(std::make_unique<Script>()), command_(std::move(command)), stdio_(std::move(stdio)) {
    for (const std::string& program : command_.programs) script_->programs.push_back(program.c_str());
    script_->argv = pointers(command_.argv);
    script_->envp = pointers(command_.env);
    // The places of a bare name in PATH have a slash: none of them is the name itself.
    const bool search = command_.programs.front() != command_.argv.front();
    script_->exec = {script_->programs.data(), script_->programs.size(), search, script_->argv.data(),
                     script_->envp.data()};
    script_->cwd = command_.cwd.empty() ? nullptr : command_.cwd.c_str();
    for (std::size_t i = 0; i < 3; ++i) script_->stdio[i] = stdio_[i].get();
    script_->settings = settings;
    if (settings.confine) script_->confine = *settings.confine;
}

Child::~Child() {
    // A child that has not reached execve still reads the script: it must be gone first. Its owner has killed
    // it.
    if (script_ && pid_ > 0) {
        // By number it may be another process by now.
        raw_syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, 0, 0);
        ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), nullptr, WEXITED | WNOWAIT);
    }
    if (script_ && script_->stack) give_back_stack(script_->stack);
}

int Child::start() {
    sys::SocketPair channel;
    if (const int error = sys::make_socket_pair(channel); error < 0) return error;
    if (!script_->stack) script_->stack = take_stack();
    if (!script_->stack) return -ENOMEM;
    script_->channel = channel.second.get();
    int pidfd = -1;
    started_ns_ = monotonic_ns();
    const int pid = ::clone(run_child, static_cast<char*>(script_->stack) + kStackBytes,
                            CLONE_VM | CLONE_PIDFD | SIGCHLD, script_.get(), &pidfd);
    if (pid < 0) return -errno;
    pid_ = pid;
    pidfd_.reset(pidfd);
    channel_ = std::move(channel.first);
    stdio_.clear();
    return sys::lift(pidfd_);
}

Child::Progress Child::finish(Progress progress) noexcept {
    give_back_stack(script_->stack);
    script_.reset();
    channel_.reset();
    return progress;
}

Child::Progress Child::read_report() {
    Report report;
    iovec part{&report, sizeof report};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(channel_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Progress::waiting;
    if (got != sizeof report && ended_before_exec()) {
        failure_ = {Stage::program, ECANCELED, command_.argv.front()};
        return Progress::failed;
    }
    if (got != sizeof report) return finish(Progress::running);
    if (const cmsghdr* rights = CMSG_FIRSTHDR(&header); rights && rights->cmsg_type == SCM_RIGHTS) {
        int listener;
        std::memcpy(&listener, CMSG_DATA(rights), sizeof listener);
        listener_.reset(listener);
    }
    if (report.confined) return Progress::confined;
    note_failure(report.failure);
    return Progress::failed;
}

void Child::note_failure(const ExecFailure& failure) {
    const auto candidate = [this](std::int32_t index) {
        return index < 0 ? std::string() : command_.programs[static_cast<std::size_t>(index)];
    };
    failure_.stage = failure.stage;
    failure_.error = failure.error;
    failure_.path = failure.stage == Stage::cwd ? command_.cwd : candidate(failure.program);
    if (failure_.path.empty()) failure_.path = command_.argv.front();
    failure_.passed_over = candidate(failure.passed_over);
    failure_.passed_over_error = failure.passed_over_error;
}

/// The channel of a child that was killed on its way closes as that of one that runs. Only the kernel knows the
/// difference: PF_FORKNOEXEC among the flags in /proc/PID/stat (proc(5), include/linux/sched.h), which execve clears
/// before it closes descriptors.
bool Child::ended_before_exec() const {
    ProcessStat stat;
    return read_stat(pid_, stat) == 0 && (stat.flags & kForkNoExec) != 0;
}

Child::Progress Child::advance() {
    if (!script_) return Progress::running;
    const Progress progress = read_report();
    if (progress != Progress::failed) return progress;
    // It is on its way to _exit and reads the script no more, but its stack is in use until it has ended.
    ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), nullptr, WEXITED | WNOWAIT);
    return finish(Progress::failed);
}

}  // namespace sandpipe::launcher
