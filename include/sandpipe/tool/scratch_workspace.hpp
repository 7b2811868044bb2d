#pragma once

#include <sandpipe/binary_executor.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/unique_fd.hpp>

#include <string>

namespace sandpipe {

/// A private directory for a task: made for an executor and a session in which its commands run, so that both
/// see it and may write there; removed with everything in it by the destructor. Movable; the path may be used
/// from any thread.
class ScratchWorkspace {
  public:
    /// Makes a directory of mode 0700 with a random name below `base` (default: the session's workspace),
    /// which must exist. Throws `Error`: E_SANDBOX_POLICY_CONFLICT, naming directory and path domains or
    /// directory and writable roots, where `executor` runs in another path domain than this process and the
    /// session, or where the session does not grant writing there; E_INVALID_SANDBOX_CONFIG where `base` is
    /// no directory or the enforcer says nothing of its session; E_SANDBOX_FAILED where the directory cannot
    /// be made. Nothing is left behind then.
    ScratchWorkspace(const BinaryExecutor& executor, const SandboxEnforcer& enforcer, std::string base);
    ScratchWorkspace(const BinaryExecutor& executor, const SandboxEnforcer& enforcer)
        : ScratchWorkspace(executor, enforcer, {}) {}
    ScratchWorkspace(ScratchWorkspace&& other) noexcept;
    ScratchWorkspace& operator=(ScratchWorkspace&& other) noexcept;
    ScratchWorkspace(const ScratchWorkspace&) = delete;
    ScratchWorkspace& operator=(const ScratchWorkspace&) = delete;
    /// As `remove`, but what cannot be removed stays without a word.
    ~ScratchWorkspace();

    /// Absolute and without symbolic links; "" after `remove`.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Removes it now, whatever the modes and the depth of what commands made there; symbolic links are
    /// removed, never followed, and the directory is found by where it was made, not by its path. Blocks
    /// while it does. Commands that still write there should have ended. Throws `Error` E_SANDBOX_FAILED
    /// naming what is left and why.
    void remove();

  private:
    unique_fd base_;
    std::string name_;
    std::string path_;
};

}  // namespace sandpipe
