#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "sandbox/network/ip_address.hpp"

namespace sandpipe {

/// A host in its one canonical form: what is judged is what is dialled, byte for byte.
struct Host {
    std::string name;                  ///< lower case, without a trailing dot; an address as `IpAddress::text`
    std::optional<IpAddress> address;  ///< if it is one

    /// A name whose last label is a number (127.1, 0x7f.1, 2130706433): some programs take it for an address, each in
    /// its own way. No rule can be about it.
    [[nodiscard]] bool is_guesswork() const;

    friend bool operator==(const Host&, const Host&) = default;
};

struct Destination {
    Host host;
    std::uint16_t port = 0;

    /// "name:80", "[::1]:80"
    [[nodiscard]] std::string text() const;
    friend bool operator==(const Destination&, const Destination&) = default;
};

/// What is wrong with guesswork.
extern const char* const kGuesswork;

/// A value, or what is wrong with the text.
template <typename T>
using Parsed = std::variant<T, std::string>;

/// An ASCII name of letters, digits, '-' and '_' in labels of 1 to 63 characters, 253 in all, a trailing dot
/// ignored; or an address as `IpAddress::parse` takes it, IPv6 with or without brackets. Refused is everything that
/// different programs read differently: names whose last label is a number (127.1, 0x7f.1, 2130706433), zones,
/// percent-encoding, user-info, other characters.
[[nodiscard]] Parsed<Host> parse_host(std::string_view text);

/// The same for what a client asks for, with guesswork among it: as a host that is refused by name.
[[nodiscard]] Parsed<Host> parse_asked_host(std::string_view text);

/// A decimal port from 1 to 65535 without leading zeros.
[[nodiscard]] Parsed<std::uint16_t> parse_port(std::string_view text);

/// What a client asks for: "host:port", with brackets around IPv6. Without a port the default one; without that
/// either, it is an error.
[[nodiscard]] Parsed<Destination> parse_authority(std::string_view text,
                                                  std::optional<std::uint16_t> default_port = {});

/// Text from a command or a file, quoted and printable, for messages.
[[nodiscard]] std::string quoted_text(std::string_view text);

}  // namespace sandpipe
