#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

enum class Enforced : std::uint8_t { full, partial, none };

/// "full", "partial", "none"
[[nodiscard]] std::string_view to_string(Enforced enforced) noexcept;

/// What one mechanism does for a session on this machine.
struct Mechanism {
    std::string name;  ///< namespaces, filesystem, denied_reads, network, landlock, seccomp, capabilities,
                       ///< denials, ...; where given up also names, execution, unix_sockets, proc, uts
    Enforced enforced = Enforced::none;
    std::string detail;  ///< what is missing and the remedy, or a version; may be empty
    bool given_up = false;  ///< the machine refused it, and enable_weaker_nested_sandbox let the session go on
};

/// What is enforced, mechanism by mechanism. What the policy needs and the machine lacks is no entry here but
/// an error when the session starts.
struct EnforcementReport {
    std::vector<Mechanism> mechanisms;

    [[nodiscard]] const Mechanism* find(std::string_view name) const noexcept;
    /// {"filesystem":{"enforced":"full","detail":""}, ...}; with "given_up":true where that holds.
    [[nodiscard]] nlohmann::json to_json() const;
};

}  // namespace sandpipe
