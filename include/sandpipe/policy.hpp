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

/// The order of entries never matters, nor does the spelling of a path: it means the place that it leads to.
struct FilesystemPolicy {
    std::vector<PathPattern> deny_read;  ///< empty: everything can be read
    std::vector<PathPattern> allow_read;   ///< in spite of a denied place above; the longer place wins, on a tie deny
    std::vector<PathPattern> allow_write;  ///< the writable roots; empty: the session's own /tmp and /dev/shm alone
    std::vector<PathPattern> deny_write;     ///< within the roots, existing or not; always wins
    std::vector<PathPattern> allow_execute;  ///< programs, or directories of them: nothing else can be started
    bool restrict_execute = false;    ///< so also if that list is empty: the shell alone; false: everything then
    bool allow_git_config = false;    ///< .git/config and .git/config.worktree may be written
    bool allow_git_init = false;      ///< a repository may be made at a root that has none
    bool allow_git_worktree = false;  ///< a root that is a linked worktree: its repository may be written, too
    std::vector<PathPattern> git_safe_directories{PathPattern{"."}};  ///< git's safe.directory for commands
    std::vector<std::string> mandatory_deny_except;  ///< always denied names that are not; others are an error
    MissingAllowWrite missing_allow_write = MissingAllowWrite::error;
    std::vector<std::string> devices;  ///< nodes or directories of them below /dev, beside what is always there
    bool disabled = false;             ///< no file system rules at all; nothing else is switched off
    friend bool operator==(const FilesystemPolicy&, const FilesystemPolicy&) = default;
};

/// Domains are NAME, *.NAME or an address, each with :PORT or without (all ports).
struct NetworkPolicy {
    std::vector<std::string> allowed_domains;  ///< empty: no network but the session's own loopback
    std::vector<std::string> denied_domains;   ///< in spite of the allowed ones; here "*" alone is possible, too
    std::map<std::string, std::string> denied_domain_reasons;  ///< by entry of denied_domains: words for refusals
    std::vector<std::string> allow_unix_sockets;  ///< paths of the host's sockets; empty: none is within reach
    bool disabled = false;                        ///< the host's network, unfiltered
    friend bool operator==(const NetworkPolicy&, const NetworkPolicy&) = default;
};

/// 0 means no limit of sandpipe's own. All but tmp_bytes are not enforced yet: another value is an error of the
/// session.
struct LimitsPolicy {
    std::uint64_t memory_bytes = 0;
    std::uint64_t pids = 0;
    std::uint64_t cpu_seconds = 0;
    std::uint64_t file_size_bytes = 0;
    std::uint64_t open_files = 0;
    std::uint64_t tmp_bytes = 0;  ///< size of the private /tmp, and of /dev/shm; 0: half of the machine's memory
    bool best_effort = false;     ///< there is no limit yet that it could weaken
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
