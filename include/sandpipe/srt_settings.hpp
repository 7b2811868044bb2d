#pragma once

#include <sandpipe/policy.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace sandpipe {

struct SrtSettings {
    SandboxPolicy policy;
    std::vector<std::string> warnings;  ///< one for each key that means nothing here
};

/// Reads the content of a settings file of the npm package @anthropic-ai/sandbox-runtime
/// (~/.srt-settings.json), as its version 0.0.83 documents them. Lists of paths and domains, allowGitConfig,
/// git.safeDirectories and allowNestedUserNamespaces are taken as they are; an allowWrite path that does not
/// exist gives a warning when the session starts, never an error; files of `credentials` cannot be read,
/// whatever their mode. What grants something that a sandbox of this library does not have, or means nothing
/// on Linux, is a warning. Throws `Error` E_INVALID_SANDBOX_CONFIG, naming the key, for what would restrict
/// something and cannot be enforced, for unknown keys, and as `SandboxPolicy::from_json`.
[[nodiscard]] SrtSettings from_srt_settings(const nlohmann::json& file);

}  // namespace sandpipe
