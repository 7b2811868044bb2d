#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

namespace sandpipe::launcher {

/// System calls that may block, each made by a child of its own that shares this process's memory and descriptors, so
/// that nobody else has to wait.
class BlockingCalls {
  public:
    BlockingCalls();
    BlockingCalls(const BlockingCalls&) = delete;
    BlockingCalls& operator=(const BlockingCalls&) = delete;
    ~BlockingCalls();

    struct Call {
        std::uint64_t cookie = 0;  ///< the notified call that waits for it
        pid_t thread = 0;          ///< which makes that one
        long number = 0;
        std::array<long, 4> arguments{};
        std::shared_ptr<void> kept;  ///< owns what the arguments point to, and the descriptors among them
    };
    /// 0, or -errno: EAGAIN when too many wait.
    [[nodiscard]] int start(Call call);

    /// ERESTARTSYS, which user mode never sees where a signal is pending: the kernel asks whether its handler wants
    /// the call made anew.
    static constexpr int kRestart = 512;
    struct Ended {
        Call call;
        int value = 0;         ///< as the kernel returned it, or -EINTR, or -kRestart
        bool unknown = false;  ///< its child was killed, maybe just when the call was done
    };
    /// A child of this process has been reaped: what it made, if it was one of ours.
    [[nodiscard]] std::optional<Ended> on_child(pid_t pid);
    /// Some wait: `end_interrupted` wants to be called, again and again.
    [[nodiscard]] bool has_waiting() const noexcept { return !works_.empty(); }
    /// Ends those for threads that have a signal to take. Nothing else wakes them: a call whose notification was
    /// received waits for its answer with fatal signals only (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).
    void end_interrupted() const;
    /// Ends those that nobody waits for any more.
    void end_unless(const std::function<bool(std::uint64_t cookie)>& still_waiting) const;

  private:
    struct Work;
    std::unordered_map<pid_t, std::unique_ptr<Work>> works_;
};

}  // namespace sandpipe::launcher
