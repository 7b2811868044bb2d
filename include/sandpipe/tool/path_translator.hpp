#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sandpipe {

/// Why a path is not a place in the workspace.
enum class PathRefusal : std::uint8_t {
    nul = 1,  ///< it contains a NUL byte
    home,     ///< ~ or ~user: nothing here expands it
    drive,    ///< C: and the like
    device,   ///< \\.\ or \\?\, with either kind of slash
    unc,      ///< \\server\share, with either kind of slash
    escape,   ///< .. leads out of the workspace
    symlink,  ///< a symbolic link leads out of it, or nowhere that can be checked
};

/// "nul", "home", ...
[[nodiscard]] std::string_view to_string(PathRefusal reason) noexcept;

/// Turns the workspace-relative paths that a model writes into absolute paths of the host beneath the
/// workspace. Thread-safe.
class PathTranslator {
  public:
    /// Opens the workspace and keeps it: renaming the directory later does not change which one is meant.
    /// Throws `Error` E_INVALID_SANDBOX_CONFIG if it is no directory.
    explicit PathTranslator(const std::string& workspace);

    /// "" and "/" are the workspace itself; a leading "/" stands for it. The path may exist or not. Symbolic
    /// links are followed beneath the workspace by openat2(2), an absolute one never. Throws `Error`
    /// E_SANDBOX_PATH_ESCAPE naming the path and the reason.
    ///
    /// The answer is true for the moment: who may write in the workspace can change it. The sandbox holds
    /// anyway.
    [[nodiscard]] std::string to_host(std::string_view path) const;

    /// The workspace without symbolic links.
    [[nodiscard]] const std::string& workspace() const noexcept { return workspace_; }

  private:
    unique_fd root_;
    std::string workspace_;
};

}  // namespace sandpipe
