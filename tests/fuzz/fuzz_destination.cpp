// Authorities and rules: nothing that is accepted has two readings.
#include <sandpipe/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/network/domain_rules.hpp"

using namespace sandpipe;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

/// What some take for an address and some do not is no rule, and no rule allows it.
void require_no_rule(const Destination& destination) {
    NetworkPolicy policy;
    policy.allowed_domains = {"*.example", "127.0.0.1", ""};
    for (const std::string& own : {destination.text(), std::string("a.example")}) {
        policy.allowed_domains.back() = own;
        try {
            require(!DomainRules(policy).judge(destination).allowed);
        } catch (const Error&) {
            // a refusal is an answer
        }
    }
}

void check_authority(std::string_view text) {
    const auto parsed = parse_authority(text, 80);
    const auto* destination = std::get_if<Destination>(&parsed);
    if (!destination) return;
    if (destination->host.is_guesswork()) return require_no_rule(*destination);
    // The canonical text means the same, and is made of harmless characters.
    const auto again = parse_authority(destination->text());
    require(std::holds_alternative<Destination>(again) && std::get<Destination>(again) == *destination);
    for (const char c : destination->host.name) require(c > ' ' && c < 0x7f && c != '@' && c != '%' && c != '/');
    require(destination->port != 0);
    // The rule for it allows it, and the one for its port no other port.
    NetworkPolicy policy;
    policy.allowed_domains = {destination->text()};
    const DomainRules rules(policy);
    require(rules.judge(*destination).allowed);
    Destination other = *destination;
    other.port = static_cast<std::uint16_t>(other.port == 1 ? 2 : 1);
    require(!rules.judge(other).allowed);
}

void check_rule(std::string_view text) {
    NetworkPolicy policy;
    policy.allowed_domains = {std::string(text)};
    try {
        const DomainRules rules(policy);
        // No rule reaches a name that it does not end with.
        std::string lower(text);
        for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        require(!rules.judge({{"x.example.invalid", {}}, 1}).allowed || lower.find("example.invalid") != lower.npos);
        policy.denied_domains = policy.allowed_domains;
        const DomainRules both(policy);
        require(both.warnings().size() == 1);
    } catch (const Error&) {
        // a refusal is an answer
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_authority(text);
    check_rule(text);
    return 0;
}
