#include "sandbox/explain_connect.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <variant>

#include "sandbox/explain_place.hpp"
#include "sandbox/network/destination.hpp"

namespace sandpipe {
namespace {

Destination destination_of(const std::string& target) {
    Parsed<Destination> parsed = "is a URL; leave out its scheme and path";
    if (target.find("://") == std::string::npos) parsed = parse_authority(target);
    if (const auto* wrong = std::get_if<std::string>(&parsed))
        throw Error(Errc::invalid_sandbox_config,
                    "the target of explain connect is " + quoted_text(target) + ", which " + *wrong +
                        "; accepted: HOST:PORT, [IPv6]:PORT, or the path of a UNIX socket, with a / in it");
    return std::get<Destination>(std::move(parsed));
}

std::string words_of(const DomainVerdict& verdict) {
    if (verdict.rule.empty()) return verdict.reason.value_or("allowed");
    return verdict.reason ? verdict.rule + ": " + *verdict.reason : verdict.rule;
}

}  // namespace

Explanation explain_host(const CompiledPolicy& compiled, const std::string& target) {
    const Destination asked = destination_of(target);
    if (!compiled.plan.own_network) return {true, "network.disabled", asked.text()};
    DomainVerdict verdict = compiled.domains.judge(asked);
    if (verdict.allowed && asked.host.address) {
        const DomainVerdict address = compiled.domains.judge_address(asked, *asked.host.address, {});
        if (!address.allowed) verdict = address;
    }
    return {verdict.allowed, words_of(verdict), asked.text()};
}

Explanation explain_socket(const CompiledPolicy& compiled, const std::string& absolute, const SessionView& view) {
    const SessionWalk walk = walk_in_session(absolute, view);
    if (!walk.blocked.empty()) return explain_blocked(compiled, walk, view);
    const auto& sockets = compiled.plan.unix_sockets;
    const bool allowed = std::find(sockets.begin(), sockets.end(), walk.path.place) != sockets.end();
    return {allowed, allowed ? "allowUnixSockets" : "not in allowUnixSockets", walk.path.place};
}

}  // namespace sandpipe
