#pragma once

#include <sandpipe/policy.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sandpipe::tool {

/// Names as absolute paths: one without a slash is looked up in `path` (a PATH), an absolute one stays.
/// Throws `Error` E_INVALID_SANDBOX_CONFIG naming one that is not found, relative or empty.
[[nodiscard]] std::vector<std::string> locate_commands(const std::vector<std::string>& commands,
                                                       std::string_view path);

/// `policy` with these programs and `shell` as all that may be executed. Where it restricts execution itself,
/// its own list stays, and throws `Error` E_SANDBOX_POLICY_CONFLICT naming an entry that is none of
/// `programs`. Pure.
[[nodiscard]] SandboxPolicy with_allowed_commands(SandboxPolicy policy,
                                                  const std::vector<std::string>& programs,
                                                  const std::string& shell);

}  // namespace sandpipe::tool
