#include "sandbox/network/socks5.hpp"

#include <algorithm>

#include "sandbox/network/http_request.hpp"

namespace sandpipe {
namespace {

constexpr std::size_t kVersion = 5;
constexpr std::size_t kOldVersion = 4;
constexpr char kNoAuthentication = 0;
constexpr std::size_t kConnect = 1;
constexpr std::size_t kHead = 4;  // VER CMD RSV ATYP
constexpr std::size_t kPort = 2;

enum AddressType : std::size_t { kIpv4 = 1, kName = 3, kIpv6 = 4 };

template <typename Bytes>
Host address_host(std::string_view text) {
    Bytes bytes{};
    std::copy_n(text.begin(), bytes.size(), reinterpret_cast<char*>(bytes.data()));
    const IpAddress address(bytes);
    return {address.text(), address};
}

/// For a client of another protocol: a refusal that it understands, where there is one.
std::string answer_to_other(std::size_t version) {
    constexpr char kRejected = 91;  // "request rejected or failed", in SOCKS4
    if (version == kOldVersion) return {'\0', kRejected, '\0', '\0', '\0', '\0', '\0', '\0'};
    const bool is_method = version >= 'A' && version <= 'Z';
    return is_method ? own_response({400, "this is a SOCKS5 proxy; HTTP has a port of its own"}, false, false) : "";
}

}  // namespace

std::string socks_reply(SocksReply reply) {
    std::string text(10, '\0');
    text[0] = kVersion;
    text[1] = static_cast<char>(reply);
    text[3] = kIpv4;
    return text;
}

Socks5Handshake::Step Socks5Handshake::on_input(std::string_view bytes) {
    input_.append(bytes);
    if (!greeted_)
        if (const Step step = on_greeting(); !greeted_) return step;
    return on_request();
}

/// VER NMETHODS METHODS
Socks5Handshake::Step Socks5Handshake::on_greeting() {
    if (has(1) && byte(0) != kVersion) {
        output_ = answer_to_other(byte(0));
        return Step::refuse;
    }
    if (!has(2) || !has(2 + byte(1))) return Step::more;
    const std::string_view methods = std::string_view(input_).substr(2, byte(1));
    const bool known = methods.find(kNoAuthentication) != std::string_view::npos;
    output_ = {kVersion, known ? kNoAuthentication : '\xff'};
    if (!known) return Step::refuse;
    input_.erase(0, 2 + methods.size());
    greeted_ = true;
    return Step::more;
}

Socks5Handshake::Step Socks5Handshake::refuse(SocksReply reply) {
    output_ += socks_reply(reply);
    return Step::refuse;
}

/// VER CMD RSV ATYP ADDRESS PORT
Socks5Handshake::Step Socks5Handshake::on_request() {
    if (has(1) && byte(0) != kVersion) return refuse(SocksReply::general_failure);
    if (!has(kHead + 1)) return Step::more;
    if (byte(1) != kConnect) return refuse(SocksReply::command_not_supported);
    const std::size_t type = byte(3);
    if (type != kIpv4 && type != kName && type != kIpv6) return refuse(SocksReply::address_not_supported);
    const std::size_t begin = type == kName ? kHead + 1 : kHead;
    const std::size_t size = type == kName ? byte(kHead) : type == kIpv4 ? 4 : 16;
    if (!has(begin + size + kPort)) return Step::more;
    const std::string_view address = std::string_view(input_).substr(begin, size);
    Parsed<Host> host = type == kName   ? parse_asked_host(address)
                        : type == kIpv4 ? Parsed<Host>(address_host<IpAddress::V4>(address))
                                        : Parsed<Host>(address_host<IpAddress::V6>(address));
    const auto port = static_cast<std::uint16_t>(byte(begin + size) << 8U | byte(begin + size + 1));
    if (!std::holds_alternative<Host>(host) || port == 0) return refuse(SocksReply::not_allowed);
    destination_ = {std::move(std::get<Host>(host)), port};
    input_.erase(0, begin + size + kPort);
    return Step::connect;
}

}  // namespace sandpipe
