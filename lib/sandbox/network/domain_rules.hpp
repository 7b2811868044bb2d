#pragma once

#include <sandpipe/policy.hpp>

#include <optional>
#include <string>
#include <vector>

#include "sandbox/network/destination.hpp"

namespace sandpipe {

/// One entry of allowedDomains or deniedDomains.
struct DomainRule {
    enum class Kind : std::uint8_t { exact, subdomains, everything };

    Kind kind = Kind::exact;
    Host host;                          ///< exact: the host; subdomains: the name below which they are
    std::optional<std::uint16_t> port;  ///< absent: every port
    std::string text;                   ///< as the policy has it

    [[nodiscard]] bool matches(const Destination& destination) const;
};

struct DomainVerdict {
    bool allowed = false;
    std::string rule;                   ///< "allowedDomains a.b", "deniedDomains *.c.d:443"; "" where none matched
    std::optional<std::string> reason;  ///< for a refusal: the policy's own, or what was missing
};

/// Whether a destination may be dialled. Pure; the order of the lists does not matter.
class DomainRules {
  public:
    DomainRules() = default;
    /// Throws `Error` E_INVALID_SANDBOX_CONFIG naming the entry that is wrong, and what is accepted.
    explicit DomainRules(const NetworkPolicy& policy);

    /// By name and port alone: denied beats allowed, and what no rule allows is refused.
    [[nodiscard]] DomainVerdict judge(const Destination& asked) const;
    /// One of the addresses that an allowed destination leads to. Addresses that mean this machine, its link or its
    /// cloud, and those in `own`, need a rule for the address itself, or for "localhost" if that was asked for.
    [[nodiscard]] DomainVerdict judge_address(const Destination& asked, const IpAddress& address,
                                              const std::vector<IpAddress>& own) const;

    [[nodiscard]] bool empty() const noexcept { return allowed_.empty() && denied_.empty(); }
    /// Whether a rule allows just this host, at any port.
    [[nodiscard]] bool allows_host(const Host& host) const;
    /// The first of these allowed entries that no allowed entry of `other` covers.
    [[nodiscard]] std::optional<std::string> wider_than(const DomainRules& other) const;
    /// What the user should know, such as rules that shadow others.
    [[nodiscard]] std::vector<std::string> warnings() const;

  private:
    struct Denied {
        DomainRule rule;
        std::optional<std::string> reason;
    };

    [[nodiscard]] std::string allowed_list() const;
    void add_reasons(const NetworkPolicy& policy);

    std::vector<DomainRule> allowed_;
    std::vector<Denied> denied_;
};

}  // namespace sandpipe
