#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sandpipe {

/// One entry of a path list. JSON: "path", or {"path": "...", "literal": true} for a name with glob
/// characters.
struct PathPattern {
    PathPattern() = default;
    PathPattern(std::string path_text) : path(std::move(path_text)) {}  // NOLINT: a string is a pattern
    PathPattern(const char* path_text) : path(path_text) {}             // NOLINT
    std::string path;      ///< absolute, "~/...", or relative to the workspace
    bool literal = false;  ///< glob characters mean themselves
    friend bool operator==(const PathPattern&, const PathPattern&) = default;
};

/// What to do about an allowWrite path that does not exist when the session starts.
enum class MissingAllowWrite : std::uint8_t { error, create, skip };

struct FilesystemPolicy {
    std::vector<PathPattern> deny_read;
    std::vector<PathPattern> allow_read;
    std::vector<PathPattern> allow_write;
    std::vector<PathPattern> deny_write;
    std::vector<PathPattern> allow_execute;
    bool restrict_execute = false;  ///< allowExecute was given, if only as an empty list
    bool allow_git_config = false;
    bool allow_git_init = false;
    bool allow_git_worktree = false;
    std::vector<PathPattern> git_safe_directories{PathPattern{"."}};
    std::vector<std::string> mandatory_deny_except;
    MissingAllowWrite missing_allow_write = MissingAllowWrite::error;
    std::vector<std::string> devices;
    bool disabled = false;  ///< no file system rules at all; nothing else is switched off
    friend bool operator==(const FilesystemPolicy&, const FilesystemPolicy&) = default;
};

struct NetworkPolicy {
    std::vector<std::string> allowed_domains;
    std::vector<std::string> denied_domains;
    std::map<std::string, std::string> denied_domain_reasons;
    std::vector<std::string> allow_unix_sockets;
    bool disabled = false;  ///< the host's network, unfiltered
    friend bool operator==(const NetworkPolicy&, const NetworkPolicy&) = default;
};

/// 0 means no limit of sandpipe's own.
struct LimitsPolicy {
    std::uint64_t memory_bytes = 0;
    std::uint64_t pids = 0;
    std::uint64_t cpu_seconds = 0;
    std::uint64_t file_size_bytes = 0;
    std::uint64_t open_files = 0;
    std::uint64_t tmp_bytes = 0;  ///< size of the private /tmp; 0: half of the machine's memory
    bool best_effort = false;
    friend bool operator==(const LimitsPolicy&, const LimitsPolicy&) = default;
};

/// What a sandboxed command may do. Plain data; `srt_enforcer` checks it against the machine and the
/// workspace.
struct SandboxPolicy {
    FilesystemPolicy filesystem;
    NetworkPolicy network;
    LimitsPolicy limits;
    bool allow_nested_user_namespaces = false;

    /// Closed: an unknown key, a value of the wrong type, or a key that this version does not enforce yet
    /// throws `Error` E_INVALID_SANDBOX_CONFIG naming it, its place, and the nearest known key.
    [[nodiscard]] static SandboxPolicy from_json(const nlohmann::json& json);
    /// One complete file: every key, also those with their defaults (except allowExecute, whose absence means
    /// everything). `from_json(to_json())` is the same policy.
    [[nodiscard]] nlohmann::json to_json() const;
    friend bool operator==(const SandboxPolicy&, const SandboxPolicy&) = default;
};

}  // namespace sandpipe
