#pragma once

#include <sandpipe/policy.hpp>

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

/// One key of a policy file. The table of these drives parsing, printing, the suggestions for a mistyped key
/// and the check for what this version does not enforce.
struct PolicyKey {
    std::string_view section;  ///< "filesystem", ...; empty for a key of the file itself
    std::string_view name;
    bool enforced = true;  ///< false: a policy that asks for it is an error, because nothing would enforce it
    /// Puts `value` into the policy; throws for a wrong type, calling the value `place`.
    void (*read)(const nlohmann::json& value, const std::string& place, SandboxPolicy& policy) = nullptr;
    /// Null for a key that is left out of the file.
    nlohmann::json (*write)(const SandboxPolicy& policy) = nullptr;
    bool (*asked_for)(const SandboxPolicy& policy) = nullptr;  ///< the value is not the default
    /// The list behind a key that holds paths, else null.
    const std::vector<PathPattern>* (*paths)(const SandboxPolicy& policy) = nullptr;

    bool globs = true;  ///< its paths may be globs

    /// "filesystem.denyRead"
    [[nodiscard]] std::string dotted() const;
};

/// Throws E_INVALID_SANDBOX_CONFIG saying what stands at `place` and what is accepted there.
[[noreturn]] void wrong_type(const nlohmann::json& value, const std::string& place,
                             std::string_view accepted);

[[nodiscard]] std::span<const PolicyKey> policy_keys() noexcept;
[[nodiscard]] std::span<const std::string_view> policy_sections() noexcept;

}  // namespace sandpipe
