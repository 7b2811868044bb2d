#include "sandbox/policy/check_supported.hpp"

#include <sandpipe/error.hpp>

#include <string>
#include <vector>

#include "sandbox/network/domain_rules.hpp"
#include "sandbox/policy/mandatory_denies.hpp"
#include "sandbox/policy/path_pattern.hpp"
#include "sandbox/policy/policy_schema.hpp"

namespace sandpipe {
namespace {

constexpr std::string_view kGlobCharacters = "*?[";

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

std::string at(const std::string& key, std::size_t index) { return key + "[" + std::to_string(index) + "]"; }

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// What no path of the kernel can be.
void check_text(const std::string& place, const std::string& path) {
    if (path.empty()) refuse(place + " is empty; accepted: a path");
    if (path.find('\0') != std::string::npos) refuse(place + " has a NUL byte in it, which no path has");
}

void check_path(const std::string& place, const PathPattern& pattern) {
    check_text(place, pattern.path);
    const bool of_another_user = pattern.path[0] == '~' && pattern.path.size() > 1 && pattern.path[1] != '/';
    if (of_another_user)
        refuse(place + " is " + quoted(pattern.path) +
               "; accepted after \"~\": nothing or \"/...\" (a name that begins with \"~\" is \"./~...\")");
    if (const std::string fault = glob_fault(pattern); !fault.empty())
        refuse(place + " is " + quoted(pattern.path) + ": " + fault +
               R"(; a name that has such characters is {"path": "...", "literal": true})");
}

void check_paths(const PolicyKey& key, const std::vector<PathPattern>& patterns) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        check_path(at(key.dotted(), i), patterns[i]);
        if (!key.globs && !split_pattern(patterns[i]).glob.empty())
            refuse(at(key.dotted(), i) + " is " + quoted(patterns[i].path) +
                   R"(; accepted: a path without a glob, or {"path": "...", "literal": true})");
    }
}

void check_devices(const std::vector<std::string>& devices) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string place = at("filesystem.devices", i);
        check_text(place, devices[i]);
        if (!devices[i].starts_with("/dev/"))
            refuse(place + " is " + quoted(devices[i]) + "; accepted: the path of a device node below /dev");
    }
}

void check_unix_sockets(const std::vector<std::string>& paths) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::string place = at("network.allowUnixSockets", i);
        check_text(place, paths[i]);
        if (paths[i].find_first_of(kGlobCharacters) != std::string::npos)
            refuse(place + " is " + quoted(paths[i]) + ": no glob is taken here; accepted: the path of one socket");
    }
}

void check_exceptions(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (is_mandatory_deny(names[i])) continue;
        std::string text =
            at("filesystem.mandatoryDenyExcept", i) + " is " + quoted(names[i]) + "; accepted:";
        for (const std::string_view known : kMandatoryDenies) text += " " + std::string(known);
        refuse(text);
    }
}

void check_network(const NetworkPolicy& network) {
    const bool has_domain_rule = !network.allowed_domains.empty() || !network.denied_domains.empty() ||
                                 !network.denied_domain_reasons.empty();
    if (network.disabled && has_domain_rule)
        refuse(
            "network.disabled is true, so nothing would judge the domains of network.allowedDomains, "
            "deniedDomains and deniedDomainReasons; leave them out, or set it to false");
    static_cast<void>(DomainRules(network));
}

void check_enforced(const SandboxPolicy& policy) {
    for (const PolicyKey& key : policy_keys())
        if (!key.enforced && key.asked_for(policy))
            refuse(key.dotted() + " is not enforced by this version yet; leave it out or at its default");
}

}  // namespace

void check_supported(const SandboxPolicy& policy) {
    check_network(policy.network);
    check_enforced(policy);
    for (const PolicyKey& key : policy_keys())
        if (key.paths) check_paths(key, *key.paths(policy));
    check_devices(policy.filesystem.devices);
    check_unix_sockets(policy.network.allow_unix_sockets);
    check_exceptions(policy.filesystem.mandatory_deny_except);
}

}  // namespace sandpipe
