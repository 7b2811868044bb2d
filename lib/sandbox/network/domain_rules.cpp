#include "sandbox/network/domain_rules.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace sandpipe {
namespace {

constexpr std::size_t kMaxListed = 8;
constexpr std::string_view kAccepted =
    "; accepted: a name (a.b), its sub-domains (*.a.b), an IPv4 or [IPv6] address, each with :PORT or without";

[[noreturn]] void refuse(const std::string& place, const std::string& text, const std::string& what) {
    throw Error(Errc::invalid_sandbox_config,
                place + " is " + quoted_text(text) + ", which " + what + std::string(kAccepted));
}

enum class List : std::uint8_t { allowed, denied };

/// Where the port of an entry begins, if it has one: a bare IPv6 address has colons of its own.
std::size_t colon_of(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t bracket = text.find(']');
        return bracket == std::string_view::npos ? bracket : text.find(':', bracket);
    }
    const std::size_t first = text.find(':');
    return first == text.rfind(':') ? first : std::string_view::npos;
}

/// "" for a pattern that means something.
std::string wrong_pattern(std::string_view host, List list) {
    if (host == "*" || host == "*.")
        return list == List::denied ? "" : "would allow everything; that is network.disabled";
    if (!host.starts_with("*.")) return "has \"*\" elsewhere than as its first label";
    if (host.find('*', 1) != std::string_view::npos) return "has \"*\" elsewhere than as its first label";
    const std::string_view name = host.substr(2, host.size() - 2 - (host.ends_with('.') ? 1 : 0));
    const bool top_level = name.find('.') == std::string_view::npos;
    return top_level && list == List::allowed ? "would allow a whole top-level domain" : "";
}

/// 10.0.0.0/8
bool is_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && IpAddress::parse(text.substr(0, slash)).has_value();
}

/// Hints for what people paste.
std::string wrong_form(std::string_view text) {
    if (is_range(text)) return "is a range of addresses, and a rule is about one; list each";
    if (text.find("://") != std::string_view::npos) return "is a URL; leave out its scheme and path";
    if (text.find_first_of("/?#") != std::string_view::npos) return "has a path, query or fragment; leave it out";
    if (text.find('@') != std::string_view::npos) return "has user information (\"@\"); leave it out";
    return {};
}

DomainRule parse_rule(const std::string& place, const std::string& text, List list) {
    DomainRule rule;
    rule.text = text;
    if (const std::string wrong = wrong_form(text); !wrong.empty()) refuse(place, text, wrong);
    const std::size_t colon = colon_of(text);
    std::string_view host = std::string_view(text).substr(0, colon);
    if (colon != std::string::npos) {
        const Parsed<std::uint16_t> port = parse_port(std::string_view(text).substr(colon + 1));
        if (const auto* wrong = std::get_if<std::string>(&port)) refuse(place, text, *wrong);
        rule.port = std::get<std::uint16_t>(port);
    }
    if (host.find('*') != std::string_view::npos) {
        if (const std::string wrong = wrong_pattern(host, list); !wrong.empty()) refuse(place, text, wrong);
        rule.kind = host.size() > 2 ? DomainRule::Kind::subdomains : DomainRule::Kind::everything;
        if (rule.kind == DomainRule::Kind::everything) return rule;
        host.remove_prefix(2);
    }
    Parsed<Host> parsed = parse_host(host);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) refuse(place, text, *wrong);
    rule.host = std::move(std::get<Host>(parsed));
    if (rule.kind == DomainRule::Kind::subdomains && rule.host.address) refuse(place, text, "is no name below \"*.\"");
    return rule;
}

/// The narrowest first, so that of several that match the same one is named, whatever the order of the list.
bool narrower(const DomainRule& a, const DomainRule& b) {
    const auto key = [](const DomainRule& rule) {
        return std::tuple(rule.kind, !rule.port.has_value(), ~rule.host.name.size(), std::string_view(rule.text));
    };
    return key(a) < key(b);
}

std::string at(const char* list, std::size_t index) {
    return std::string("network.") + list + "[" + std::to_string(index) + "]";
}

bool same_target(const DomainRule& a, const DomainRule& b) {
    return a.kind == b.kind && a.host == b.host && a.port == b.port;
}

/// Whether whatever `inner` matches, `outer` matches too.
bool covers(const DomainRule& outer, const DomainRule& inner) {
    if (outer.port && outer.port != inner.port) return false;
    if (inner.kind == DomainRule::Kind::exact) {
        const Destination one{inner.host, outer.port.value_or(1)};
        return outer.matches(one);
    }
    if (outer.kind == DomainRule::Kind::everything) return true;
    return outer.kind == DomainRule::Kind::subdomains && inner.kind == DomainRule::Kind::subdomains &&
           (inner.host.name == outer.host.name || inner.host.name.ends_with("." + outer.host.name));
}

DomainVerdict refusal(std::string rule, std::optional<std::string> reason) {
    return {false, std::move(rule), std::move(reason)};
}

}  // namespace

bool DomainRule::matches(const Destination& destination) const {
    if (port && *port != destination.port) return false;
    switch (kind) {
        case Kind::everything:
            return true;
        case Kind::exact:
            return host == destination.host;
        case Kind::subdomains:
            break;
    }
    return !destination.host.address && destination.host.name.size() > host.name.size() &&
           destination.host.name.ends_with("." + host.name);
}

DomainRules::DomainRules(const NetworkPolicy& policy) {
    for (std::size_t i = 0; i < policy.allowed_domains.size(); ++i)
        allowed_.push_back(parse_rule(at("allowedDomains", i), policy.allowed_domains[i], List::allowed));
    for (std::size_t i = 0; i < policy.denied_domains.size(); ++i)
        denied_.push_back({parse_rule(at("deniedDomains", i), policy.denied_domains[i], List::denied), {}});
    add_reasons(policy);
    std::sort(allowed_.begin(), allowed_.end(), narrower);
    std::sort(denied_.begin(), denied_.end(),
              [](const Denied& a, const Denied& b) { return narrower(a.rule, b.rule); });
}

void DomainRules::add_reasons(const NetworkPolicy& policy) {
    for (const auto& [text, reason] : policy.denied_domain_reasons) {
        const std::string place = "the key of network.deniedDomainReasons";
        const DomainRule key = parse_rule(place, text, List::denied);
        bool found = false;
        for (Denied& denied : denied_) {
            if (!same_target(denied.rule, key)) continue;
            denied.reason = reason;
            found = true;
        }
        if (!found)
            throw Error(Errc::invalid_sandbox_config, "network.deniedDomainReasons has the key " + quoted_text(text) +
                                                          ", which is no entry of network.deniedDomains; add it there");
    }
}

DomainVerdict DomainRules::judge(const Destination& asked) const {
    for (const Denied& denied : denied_)
        if (denied.rule.matches(asked)) return refusal("deniedDomains " + denied.rule.text, denied.reason);
    if (asked.host.is_guesswork()) return refusal("", std::string("it ") + kGuesswork);
    for (const DomainRule& rule : allowed_)
        if (rule.matches(asked)) return {true, "allowedDomains " + rule.text, {}};
    return refusal("", allowed_list());
}

DomainVerdict DomainRules::judge_address(const Destination& asked, const IpAddress& address,
                                         const std::vector<IpAddress>& own) const {
    const Destination literal{{address.text(), address}, asked.port};
    DomainVerdict verdict = judge(literal);
    // A rule about the address decides, but one about everything has judged the name already.
    if (verdict.allowed || !verdict.rule.empty()) return verdict;
    const AddressClass found = classify(address);
    const bool is_own = std::find(own.begin(), own.end(), address) != own.end();
    const bool own_loopback = asked.host.name == "localhost" && found == AddressClass::loopback;
    if ((!needs_own_rule(found) && !is_own) || own_loopback) return {true, {}, {}};
    const std::string kind =
        is_own && !needs_own_rule(found) ? "an address of this machine" : std::string(to_string(found));
    return refusal("", "resolves to local address " + literal.text() + " (" + kind +
                           "), which only a rule for the address itself allows");
}

bool DomainRules::allows_host(const Host& host) const {
    return std::any_of(allowed_.begin(), allowed_.end(), [&](const DomainRule& rule) {
        return rule.kind == DomainRule::Kind::exact && rule.host == host;
    });
}

std::optional<std::string> DomainRules::wider_than(const DomainRules& other) const {
    for (const DomainRule& rule : allowed_) {
        const auto is_cover = [&](const DomainRule& outer) { return covers(outer, rule); };
        if (std::none_of(other.allowed_.begin(), other.allowed_.end(), is_cover)) return rule.text;
    }
    return {};
}

std::string DomainRules::allowed_list() const {
    if (allowed_.empty()) return "not in allowedDomains, which is empty";
    std::string text = "not in allowedDomains: ";
    const std::size_t shown = std::min(allowed_.size(), kMaxListed);
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + allowed_[i].text;
    if (shown < allowed_.size()) text += " and " + std::to_string(allowed_.size() - shown) + " more";
    return text;
}

std::vector<std::string> DomainRules::warnings() const {
    std::vector<std::string> found;
    for (const Denied& denied : denied_) {
        if (denied.rule.kind == DomainRule::Kind::everything && !denied.rule.port && !allowed_.empty())
            return {"deny " + denied.rule.text +
                    " shadows every allow: network.deniedDomains beats allowedDomains, and "
                    "what is not allowed is refused anyway; leave it out"};
        for (const DomainRule& rule : allowed_)
            if (covers(denied.rule, rule))
                found.push_back("allowedDomains " + rule.text + " grants nothing: deniedDomains " + denied.rule.text +
                                " prevails");
    }
    return found;
}

}  // namespace sandpipe
