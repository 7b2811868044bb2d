#include "sandbox/network/destination.hpp"

#include <algorithm>
#include <charconv>

namespace sandpipe {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxQuoted = 80;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

bool is_number(std::string_view label) {
    const bool hex = label.starts_with("0x");
    if (hex) label.remove_prefix(2);
    return std::all_of(label.begin(), label.end(), hex ? is_hex : is_digit);
}

/// "" if it is a label of a name.
std::string wrong_label(std::string_view label) {
    if (label.empty()) return "has an empty label";
    if (label.size() > kMaxLabel) return "has a label of more than 63 characters";
    if (label.front() == '-' || label.back() == '-') return "has a label that begins or ends with \"-\"";
    const auto known = [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '_'; };
    if (std::all_of(label.begin(), label.end(), known)) return {};
    const bool ascii = std::all_of(label.begin(), label.end(), [](char c) { return (c & 0x80) == 0; });
    return ascii ? "has a character that no host name has"
                 : "has characters outside of ASCII; write it as punycode (xn--...)";
}

std::string wrong_name(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() > kMaxName) return "has more than 253 characters";
    for (std::string_view rest = name;;) {
        const std::size_t dot = rest.find('.');
        const std::string_view label = rest.substr(0, dot);
        if (std::string wrong = wrong_label(label); !wrong.empty()) return wrong;
        if (dot == std::string_view::npos) return {};
        rest.remove_prefix(dot + 1);
    }
}

Host address_host(const IpAddress& address) { return {address.text(), address}; }

Parsed<Host> parse_ipv6(std::string_view text) {
    const auto address = IpAddress::parse(text);
    if (!address || text.find(':') == std::string_view::npos)
        return "is no IPv6 address" +
               std::string(text.find('%') != std::string_view::npos ? "; zones are refused" : "");
    return address_host(*address);
}

}  // namespace

const char* const kGuesswork = "ends in a number, and is no address in its full decimal form";

std::string Destination::text() const {
    const bool bare_ipv6 = host.name.find(':') != std::string::npos;
    return (bare_ipv6 ? "[" + host.name + "]" : host.name) + ":" + std::to_string(port);
}

bool Host::is_guesswork() const { return !address && is_number(std::string_view(name).substr(name.rfind('.') + 1)); }

Parsed<Host> parse_host(std::string_view text) {
    Parsed<Host> parsed = parse_asked_host(text);
    if (const auto* host = std::get_if<Host>(&parsed); host && host->is_guesswork()) return std::string(kGuesswork);
    return parsed;
}

Parsed<Host> parse_asked_host(std::string_view text) {
    if (text.starts_with('[')) {
        if (!text.ends_with(']')) return "has \"[\" without \"]\" at its end";
        return parse_ipv6(text.substr(1, text.size() - 2));
    }
    if (text.find(':') != std::string_view::npos) return parse_ipv6(text);
    if (const auto address = IpAddress::parse(text)) return address_host(*address);
    std::string name(text);
    std::transform(name.begin(), name.end(), name.begin(), lower);
    if (name.ends_with('.')) name.pop_back();
    if (std::string wrong = wrong_name(name); !wrong.empty()) return wrong;
    return Host{std::move(name), {}};
}

Parsed<std::uint16_t> parse_port(std::string_view text) {
    constexpr std::size_t kMaxDigits = 5;
    unsigned value = 0;
    const bool digits = !text.empty() && text.size() <= kMaxDigits && std::all_of(text.begin(), text.end(), is_digit);
    if (digits) std::from_chars(text.data(), text.data() + text.size(), value);
    if (!digits || text.front() == '0' || value > 65535)
        return "has the port " + quoted_text(text) + "; a port is from 1 to 65535";
    return static_cast<std::uint16_t>(value);
}

Parsed<Destination> parse_authority(std::string_view text, std::optional<std::uint16_t> default_port) {
    const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
    if (bracket == std::string_view::npos) return "has \"[\" without \"]\"";
    if (text.find('@') != std::string_view::npos) return "has user information (\"@\"), which is refused";
    const std::size_t colon = text.find(':', bracket);
    if (bracket == 0 && colon != text.rfind(':'))
        return "has several \":\"; an IPv6 address stands in brackets, as in [::1]:443";
    Parsed<Host> host = parse_asked_host(text.substr(0, colon));
    if (auto* wrong = std::get_if<std::string>(&host)) return std::move(*wrong);
    if (colon == std::string_view::npos && !default_port) return "has no port";
    const Parsed<std::uint16_t> port =
        colon == std::string_view::npos ? *default_port : parse_port(text.substr(colon + 1));
    if (const auto* wrong = std::get_if<std::string>(&port)) return *wrong;
    return Destination{std::move(std::get<Host>(host)), std::get<std::uint16_t>(port)};
}

std::string quoted_text(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char c : text.substr(0, kMaxQuoted)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\')
            quoted += c;
        else
            quoted += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
    return quoted + (text.size() > kMaxQuoted ? "...\"" : "\"");
}

}  // namespace sandpipe
