#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sandpipe {

/// An IPv4 or IPv6 address. An IPv4 address has one form only: what IPv6 maps (::ffff:0:0/96) is IPv4 here, because
/// the kernel connects both to the same place.
class IpAddress {
  public:
    using V4 = std::array<std::uint8_t, 4>;
    using V6 = std::array<std::uint8_t, 16>;

    IpAddress(V4 bytes) noexcept;  // NOLINT: bytes are an address
    IpAddress(V6 bytes) noexcept;  // NOLINT

    /// Four decimal numbers without leading zeros, or RFC 4291 text without brackets or zone. Nothing that
    /// inet_aton(3) would guess.
    [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);

    [[nodiscard]] bool is_v4() const noexcept { return v4_; }
    [[nodiscard]] V4 v4() const noexcept;
    /// Mapped, for an IPv4 address.
    [[nodiscard]] const V6& v6() const noexcept { return bytes_; }
    /// As inet_ntop(3) writes it.
    [[nodiscard]] std::string text() const;

    friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

  private:
    V6 bytes_{};
    bool v4_ = false;
};

/// What is known of an address without asking anybody.
enum class AddressClass : std::uint8_t {
    global,
    private_use,  ///< RFC 1918, unique local, and the carriers' 100.64.0.0/10
    unspecified,
    loopback,
    link_local,
    metadata,  ///< where clouds hand credentials to whoever asks
    multicast,  ///< and broadcast
};

/// "loopback", "link-local", ...
[[nodiscard]] std::string_view to_string(AddressClass address_class) noexcept;

/// The class of an address, or of the IPv4 address that an IPv6 one stands for (IPv4-compatible, 6to4, NAT64).
[[nodiscard]] AddressClass classify(const IpAddress& address) noexcept;

/// Whether such an address is reached only by a rule for the address itself. Private addresses are not among them: a
/// name that the policy allows may well be that of a server in the same network.
[[nodiscard]] bool needs_own_rule(AddressClass address_class) noexcept;

}  // namespace sandpipe
