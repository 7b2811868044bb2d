#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sys/elf.hpp"

namespace sandpipe {

enum class PathKind : std::uint8_t {
    missing,
    file,
    directory,
    symlink,
    device,
    other,        ///< a FIFO or a socket
    unreachable,  ///< there may be something, but the caller cannot look at it
};

/// What stands at a path, a symbolic link not followed.
struct PathFact {
    PathKind kind = PathKind::missing;
    int error = 0;                 ///< of an unreachable one
    std::uint64_t hard_links = 1;  ///< names that the file has
    std::uint64_t device = 0;      ///< with the inode: which one it is
    std::uint64_t inode = 0;

    [[nodiscard]] bool exists() const noexcept {
        return kind != PathKind::missing && kind != PathKind::unreachable;
    }
};

struct DirectoryEntry {
    std::string name;  ///< neither "." nor ".."
    PathKind kind = PathKind::missing;
};

struct DirectoryListing {
    std::vector<DirectoryEntry> entries;
    int error = 0;  ///< not 0: it could not be read to its end, or nothing in it can be looked at
};

/// All that planning a session wants to know about the file system. Paths are absolute.
class PathFacts {
  public:
    virtual ~PathFacts() = default;
    [[nodiscard]] virtual PathFact look(const std::string& path) const = 0;
    /// Where a symbolic link points, as it is written in it; empty if that cannot be read.
    [[nodiscard]] virtual std::string link_target(const std::string& path) const = 0;
    /// Of a path without links; one that has a link by now is no directory any more.
    [[nodiscard]] virtual DirectoryListing list(const std::string& path) const = 0;
    /// The first 4096 bytes of a regular file; empty if they cannot be read.
    [[nodiscard]] virtual std::string text(const std::string& path) const = 0;
    /// What a file says about running it; nothing if it cannot be read.
    [[nodiscard]] virtual sys::ProgramFacts program(const std::string& path) const = 0;
    /// Whether the caller may execute a file, by its mode and what it is mounted with; false if there is none.
    [[nodiscard]] virtual bool may_be_executed(const std::string& path) const = 0;
    /// What is mounted where, as in /proc/PID/mountinfo. Throws `Error` E_SANDBOX_UNSUPPORTED_ENV if that cannot be
    /// read.
    [[nodiscard]] virtual std::string mount_table() const = 0;
};

/// For a search that must not miss a name: all of a directory, with an error where something in it could escape the
/// search: it cannot be listed, or not be entered, or has too long a path for its entries to be named. Without
/// entries and error if it has gone.
[[nodiscard]] DirectoryListing list_surely(const PathFacts& facts, const std::string& directory);

/// The file system as this process sees it. Keeps nothing: every call asks the kernel.
class HostPathFacts final : public PathFacts {
  public:
    [[nodiscard]] PathFact look(const std::string& path) const override;
    [[nodiscard]] std::string link_target(const std::string& path) const override;
    [[nodiscard]] DirectoryListing list(const std::string& path) const override;
    [[nodiscard]] std::string text(const std::string& path) const override;
    [[nodiscard]] sys::ProgramFacts program(const std::string& path) const override;
    [[nodiscard]] bool may_be_executed(const std::string& path) const override;
    [[nodiscard]] std::string mount_table() const override;
};

}  // namespace sandpipe
