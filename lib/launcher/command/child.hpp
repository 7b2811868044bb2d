#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/command/confine.hpp"
#include "launcher/command/exec_program.hpp"
#include "launcher/kernel/failure.hpp"
#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// How the children of this process are made, beyond what each command says.
struct ChildSettings {
    rlimit open_files{};                    ///< given back to the command: the helper itself raised it
    bool own_session = false;               ///< setsid; else an own process group
    /// Plain commands: the launcher. It is single-threaded, so its death is all that PR_SET_PDEATHSIG can mean. 0 in
    /// a pid namespace, where everything ends with pid 1 anyway.
    pid_t parent = 0;
    const ConfineSteps* confine = nullptr;  ///< null for plain commands
    std::optional<rlimit> mark;             ///< plain commands: by fresh_mark()
};

/// A child between clone and execve, and what the two sides say to each other meanwhile.
///
/// The child shares this process's memory (CLONE_VM: nothing is copied, however it grows) but, unlike vfork,
/// does not suspend it: a program on a file system that hangs blocks its own start and nothing else. It
/// reports over a socket that execve closes: end of file without a word means that the program runs.
class Child {
  public:
    Child(wire::StartCommand command, std::vector<unique_fd> stdio, const ChildSettings& settings);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    /// Makes the child. -EAGAIN means that processes are short: worth another try.
    [[nodiscard]] int start();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
    /// CLOCK_MONOTONIC when the child was made.
    [[nodiscard]] std::int64_t started_ns() const noexcept { return started_ns_; }
    /// To poll for reading while the start is under way.
    [[nodiscard]] int channel() const noexcept { return channel_.get(); }

    enum class Progress : std::uint8_t { waiting, confined, running, failed };
    /// The channel is readable, or the child has ended: takes one step. `confined`: `take_listener` has
    /// something. After `running` and `failed` the memory that the child used is free again.
    [[nodiscard]] Progress advance();
    [[nodiscard]] unique_fd take_listener() noexcept { return std::move(listener_); }
    [[nodiscard]] const wire::Failure& failure() const noexcept { return failure_; }
    /// What its comm would be: prctl(2) has 15 bytes for it.
    [[nodiscard]] std::string name() const {
        const std::string& program = command_.argv.front();
        return program.substr(program.rfind('/') + 1).substr(0, 15);
    }

    struct Script;

  private:
    Progress finish(Progress progress) noexcept;
    Progress read_report();
    void note_failure(const ExecFailure& failure);
    [[nodiscard]] bool ended_before_exec() const;

    std::unique_ptr<Script> script_;
    wire::StartCommand command_;
    std::vector<unique_fd> stdio_;
    unique_fd channel_;
    unique_fd pidfd_;
    unique_fd listener_;
    wire::Failure failure_;
    pid_t pid_ = -1;
    std::int64_t started_ns_ = 0;
};

[[nodiscard]] std::int64_t monotonic_ns() noexcept;

}  // namespace sandpipe::launcher
