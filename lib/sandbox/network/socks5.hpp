#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/network/destination.hpp"

namespace sandpipe {

/// REP of a SOCKS5 reply (RFC 1928).
enum class SocksReply : std::uint8_t {
    succeeded = 0,
    general_failure = 1,
    not_allowed = 2,
    network_unreachable = 3,
    host_unreachable = 4,
    connection_refused = 5,
    command_not_supported = 7,
    address_not_supported = 8,
};

/// A whole reply, with 0.0.0.0:0 for the address that no client of CONNECT looks at.
[[nodiscard]] std::string socks_reply(SocksReply reply);

/// The server's side of a SOCKS5 handshake (RFC 1928): no authentication, CONNECT only, names and both kinds of
/// addresses. Pure.
class Socks5Handshake {
  public:
    enum class Step : std::uint8_t {
        more,     ///< more input is needed; `output` goes out first
        connect,  ///< `destination` is asked for; `rest` is already for it
        refuse,   ///< `output` goes out, then the connection ends
    };

    [[nodiscard]] Step on_input(std::string_view bytes);
    [[nodiscard]] std::string take_output() { return std::exchange(output_, {}); }
    [[nodiscard]] const Destination& destination() const noexcept { return destination_; }
    [[nodiscard]] std::string take_rest() { return std::exchange(input_, {}); }

  private:
    Step on_greeting();
    Step on_request();
    Step refuse(SocksReply reply);
    [[nodiscard]] bool has(std::size_t size) const noexcept { return input_.size() >= size; }
    [[nodiscard]] std::size_t byte(std::size_t index) const noexcept {
        return static_cast<unsigned char>(input_[index]);
    }

    std::string input_;
    std::string output_;
    Destination destination_;
    bool greeted_ = false;
};

}  // namespace sandpipe
