#include "sandbox/network/socks_proxy.hpp"

#include <asio/error.hpp>

#include <string>
#include <utility>

#include "sandbox/network/relay.hpp"
#include "sandbox/network/socks5.hpp"

namespace sandpipe {
namespace {

SocksReply reply_for(const DialFailure& failure) {
    switch (failure.kind) {
        case DialFailure::Kind::denied:
            return SocksReply::not_allowed;
        case DialFailure::Kind::unresolved:
        case DialFailure::Kind::timed_out:
            return SocksReply::host_unreachable;
        case DialFailure::Kind::unreachable:
            break;
    }
    if (failure.error == asio::error::connection_refused) return SocksReply::connection_refused;
    if (failure.error == asio::error::network_unreachable) return SocksReply::network_unreachable;
    if (failure.error == asio::error::host_unreachable) return SocksReply::host_unreachable;
    return SocksReply::general_failure;
}

/// True when the client has asked for a destination; false when there is nothing more to do for it.
awaitable<bool> shake_hands(ProxyConnection& connection, Socks5Handshake& handshake) {
    const auto until = std::chrono::steady_clock::now() + connection.limits().first_head;
    std::string input;
    for (bool timed_out = false; co_await connection.read_from_client(input, until, timed_out) > 0; input.clear()) {
        const Socks5Handshake::Step step = handshake.on_input(input);
        const std::string output = handshake.take_output();
        co_await write_all(connection.client(), output);
        if (step == Socks5Handshake::Step::connect) co_return true;
        if (step == Socks5Handshake::Step::refuse) break;
    }
    co_await connection.close_gently();
    co_return false;
}

}  // namespace

awaitable<void> serve_socks(ProxyConnection& connection) {
    Socks5Handshake handshake;
    if (!co_await shake_hands(connection, handshake)) co_return;
    const auto failure = co_await connection.dial(handshake.destination());
    const std::string reply = socks_reply(failure ? reply_for(*failure) : SocksReply::succeeded);
    co_await write_all(connection.client(), reply);
    if (failure) {
        co_await connection.close_gently();
        co_return;
    }
    const std::string early = handshake.take_rest();
    co_await write_all(connection.upstream(), early);
    co_await relay_both_ways(connection.client(), connection.upstream());
}

}  // namespace sandpipe
