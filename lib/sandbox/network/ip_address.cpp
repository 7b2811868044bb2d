#include "sandbox/network/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace sandpipe {
namespace {

constexpr std::size_t kMappedPrefix = 12;

struct Range {
    const char* prefix;
    unsigned bits;
    AddressClass address_class;
};

// The first that fits. Sources: IANA's special-purpose registries, and the clouds' own documents for the rest.
constexpr Range kV4Ranges[] = {
    {"169.254.169.254", 32, AddressClass::metadata},  // AWS, Azure, Google, OpenStack
    {"169.254.170.2", 32, AddressClass::metadata},    // AWS ECS
    {"168.63.129.16", 32, AddressClass::metadata},    // Azure's host agent
    {"100.100.100.200", 32, AddressClass::metadata},  // Alibaba
    {"192.0.0.192", 32, AddressClass::metadata},      // Oracle
    {"0.0.0.0", 8, AddressClass::unspecified},        // connect(2) takes 0.0.0.0 for this host
    {"127.0.0.0", 8, AddressClass::loopback},
    {"169.254.0.0", 16, AddressClass::link_local},
    {"224.0.0.0", 4, AddressClass::multicast},
    {"255.255.255.255", 32, AddressClass::multicast},
    {"10.0.0.0", 8, AddressClass::private_use},
    {"172.16.0.0", 12, AddressClass::private_use},
    {"192.168.0.0", 16, AddressClass::private_use},
    {"100.64.0.0", 10, AddressClass::private_use},
};
constexpr Range kV6Ranges[] = {
    {"fd00:ec2::254", 128, AddressClass::metadata},   // AWS
    {"fd00:ec2::23", 128, AddressClass::metadata},    // AWS EKS
    {"fd20:ce::254", 128, AddressClass::metadata},    // Google
    {"::", 128, AddressClass::unspecified},
    {"::1", 128, AddressClass::loopback},
    {"fe80::", 10, AddressClass::link_local},
    {"ff00::", 8, AddressClass::multicast},
    {"fc00::", 7, AddressClass::private_use},
};

/// Where an IPv6 address has an IPv4 one in it that packets may end up at.
struct Embedding {
    const char* prefix;
    unsigned bits;
    std::size_t offset;
};
constexpr Embedding kEmbeddings[] = {
    {"::", 96, 12},          // IPv4-compatible (RFC 4291)
    {"::ffff:0:0:0", 96, 12},  // IPv4-translated (RFC 7915)
    {"64:ff9b::", 96, 12},   // NAT64 (RFC 6052)
    {"64:ff9b:1::", 48, 12},  // local-use NAT64 (RFC 8215), with a prefix of 96 bits
    {"2002::", 16, 2},       // 6to4 (RFC 3056)
};

bool in_prefix(const std::uint8_t* bytes, const std::uint8_t* prefix, unsigned bits) {
    const unsigned whole = bits / 8;
    if (!std::equal(prefix, prefix + whole, bytes)) return false;
    const unsigned rest = bits % 8;
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
    return rest == 0 || (bytes[whole] & mask) == (prefix[whole] & mask);
}

template <typename Bytes>
bool in_range(const Bytes& bytes, int family, const char* prefix, unsigned bits) {
    Bytes parsed{};
    return ::inet_pton(family, prefix, parsed.data()) == 1 && in_prefix(bytes.data(), parsed.data(), bits);
}

AddressClass class_of_v4(const IpAddress::V4& bytes) {
    for (const Range& range : kV4Ranges)
        if (in_range(bytes, AF_INET, range.prefix, range.bits)) return range.address_class;
    return AddressClass::global;
}

AddressClass class_of_v6(const IpAddress::V6& bytes) {
    for (const Range& range : kV6Ranges)
        if (in_range(bytes, AF_INET6, range.prefix, range.bits)) return range.address_class;
    for (const Embedding& embedding : kEmbeddings) {
        if (!in_range(bytes, AF_INET6, embedding.prefix, embedding.bits)) continue;
        IpAddress::V4 inner{};
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(embedding.offset), inner.size(), inner.begin());
        return class_of_v4(inner);
    }
    return AddressClass::global;
}

}  // namespace

IpAddress::IpAddress(V4 bytes) noexcept : v4_(true) {
    bytes_[10] = bytes_[11] = 0xff;
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + kMappedPrefix);
}

IpAddress::IpAddress(V6 bytes) noexcept : bytes_(bytes) {
    constexpr std::uint8_t kMapped[kMappedPrefix] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    v4_ = std::equal(std::begin(kMapped), std::end(kMapped), bytes_.begin());
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string copy(text);
    if (copy.find('\0') != std::string::npos) return {};
    V4 v4{};
    V6 v6{};
    if (::inet_pton(AF_INET, copy.c_str(), v4.data()) == 1) return IpAddress(v4);
    if (::inet_pton(AF_INET6, copy.c_str(), v6.data()) == 1) return IpAddress(v6);
    return {};
}

IpAddress::V4 IpAddress::v4() const noexcept {
    V4 bytes{};
    std::copy_n(bytes_.begin() + kMappedPrefix, bytes.size(), bytes.begin());
    return bytes;
}

std::string IpAddress::text() const {
    char buffer[INET6_ADDRSTRLEN] = "";
    if (v4_)
        ::inet_ntop(AF_INET, v4().data(), buffer, sizeof buffer);
    else
        ::inet_ntop(AF_INET6, bytes_.data(), buffer, sizeof buffer);
    return buffer;
}

std::string_view to_string(AddressClass address_class) noexcept {
    switch (address_class) {
        case AddressClass::global:
            return "global";
        case AddressClass::private_use:
            return "private";
        case AddressClass::unspecified:
            return "unspecified";
        case AddressClass::loopback:
            return "loopback";
        case AddressClass::link_local:
            return "link-local";
        case AddressClass::metadata:
            return "metadata";
        case AddressClass::multicast:
            break;
    }
    return "multicast";
}

AddressClass classify(const IpAddress& address) noexcept {
    return address.is_v4() ? class_of_v4(address.v4()) : class_of_v6(address.v6());
}

bool needs_own_rule(AddressClass address_class) noexcept {
    return address_class != AddressClass::global && address_class != AddressClass::private_use;
}

}  // namespace sandpipe
