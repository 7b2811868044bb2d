#pragma once

#include <sandpipe/unique_fd.hpp>

#include <filesystem>
#include <string>

#include "process/shortage.hpp"
#include "wire/feature_limits.hpp"

namespace sandpipe::detail {

/// A started helper: its control socket, a pidfd that tells when it has ended, and its number until then.
struct LauncherProcess {
    unique_fd control;
    unique_fd pidfd;
    int pid = -1;
};

/// Starts the helper: the embedded image from a sealed memfd; where that cannot be executed, the installed
/// copy; with `chosen` not empty, that file and nothing else. The helper is no child of this process, so
/// neither SIGCHLD nor waitpid(-1) of the host ever meets it. Takes about a millisecond, whatever the size of
/// the host. Throws `Error` E_SANDBOX_DEPENDENCY_MISSING that names every way that was tried and why it
/// failed, and Shortage. Neither it nor the helper uses what `limits` takes away.
[[nodiscard]] LauncherProcess start_launcher(const std::filesystem::path& chosen, const wire::FeatureLimits& limits);

}  // namespace sandpipe::detail
