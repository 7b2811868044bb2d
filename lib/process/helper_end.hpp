#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/unique_fd.hpp>

#include <vector>

namespace sandpipe::detail {

/// Helpers that are told to end, by their pidfds. They belong to pid 1; so in a process that is pid 1 itself, or that
/// adopts orphans (PR_SET_CHILD_SUBREAPER, prctl(2)), they are its children, and somebody has to reap them. Those that
/// still run when this is destroyed are reaped when the next ones end or start. Thread-safe where it is static.
class EndingHelpers {
  public:
    explicit EndingHelpers(std::vector<unique_fd> pidfds) : pidfds_(std::move(pidfds)) {}
    EndingHelpers(const EndingHelpers&) = delete;
    EndingHelpers& operator=(const EndingHelpers&) = delete;
    ~EndingHelpers();

    /// Completes when those that are children of this process have ended, at most 2 s later, and at once where none
    /// is. Needs no cancellation of its own.
    awaitable<void> ended();

    /// Reaps what ended since.
    static void reap_earlier() noexcept;

  private:
    std::vector<unique_fd> pidfds_;
};

}  // namespace sandpipe::detail
