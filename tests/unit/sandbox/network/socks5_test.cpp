#include "sandbox/network/socks5.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sandpipe {
namespace {

using Step = Socks5Handshake::Step;

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text += static_cast<char>(value);
    return text;
}

const std::string kGreeting = bytes({5, 1, 0});
const std::string kWelcome = bytes({5, 0});

std::string to_name(const std::string& name, int port) {
    return bytes({5, 1, 0, 3, static_cast<int>(name.size())}) + name + bytes({port >> 8, port & 255});
}

struct Talk {
    Step step = Step::more;
    std::string output;
    std::string destination;
    std::string rest;
};

/// The whole input in pieces of `size`.
Talk talk(const std::string& input, std::size_t size) {
    Socks5Handshake handshake;
    Talk result;
    for (std::size_t at = 0; at < input.size(); at += size) {
        result.step = handshake.on_input(std::string_view(input).substr(at, size));
        result.output += handshake.take_output();
        if (result.step != Step::more) {
            if (result.step == Step::connect) result.destination = handshake.destination().text();
            result.rest = handshake.take_rest() + (at + size < input.size() ? input.substr(at + size) : "");
            return result;
        }
    }
    return result;
}

TEST(Socks5, DestinationsOfEachKindInPiecesOfAnySize) {
    struct Case {
        std::string request;
        const char* destination;
    };
    const std::vector<Case> cases{
        {to_name("a.b", 443), "a.b:443"},
        {to_name("A.b.", 80), "a.b:80"},
        {to_name("1.2.3.4", 80), "1.2.3.4:80"},
        {to_name("::1", 80), "[::1]:80"},
        {to_name("127.1", 80), "127.1:80"},  // for the rules to refuse
        {to_name("[::1]", 80), "[::1]:80"},
        {bytes({5, 1, 0, 1, 127, 0, 0, 1, 0x1f, 0x90}), "127.0.0.1:8080"},
        {bytes({5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80}), "[::1]:80"},
        {bytes({5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1, 0, 80}), "127.0.0.1:80"},
    };
    for (const Case& c : cases)
        for (std::size_t size = 1; size < 40; ++size) {
            const Talk result = talk(kGreeting + c.request + "early", size);
            EXPECT_EQ(result.step, Step::connect) << c.destination;
            EXPECT_EQ(result.destination, c.destination);
            EXPECT_EQ(result.output, kWelcome);
            EXPECT_EQ(result.rest, "early");
        }
}

TEST(Socks5, RefusalsHaveTheirCode) {
    struct Case {
        std::string input;
        std::string output;
    };
    const auto refused = [](SocksReply reply) { return kWelcome + socks_reply(reply); };
    const std::vector<Case> cases{
        {bytes({4, 1, 0, 80, 127, 0, 0, 1, 0}), bytes({0, 91, 0, 0, 0, 0, 0, 0})},        // SOCKS4
        {bytes({4, 1, 0, 80, 0, 0, 0, 1, 0}) + "a.b", bytes({0, 91, 0, 0, 0, 0, 0, 0})},  // SOCKS4a
        {bytes({0x16, 3, 1}), ""},                                                        // TLS
        {bytes({5, 1, 2}), bytes({5, 255})},                                              // only user and password
        {bytes({5, 0}), bytes({5, 255})},                                                 // no method at all
        {kGreeting + bytes({4, 1, 0, 1, 0}), refused(SocksReply::general_failure)},
        {kGreeting + bytes({5, 2, 0, 1, 0}), refused(SocksReply::command_not_supported)},  // BIND
        {kGreeting + bytes({5, 3, 0, 1, 0}), refused(SocksReply::command_not_supported)},  // UDP
        {kGreeting + bytes({5, 1, 0, 2, 0}), refused(SocksReply::address_not_supported)},
        {kGreeting + to_name("", 80), refused(SocksReply::not_allowed)},
        {kGreeting + to_name("a.b", 0), refused(SocksReply::not_allowed)},
        {kGreeting + to_name(std::string("a\0.b", 4), 80), refused(SocksReply::not_allowed)},
        {kGreeting + to_name("a b", 80), refused(SocksReply::not_allowed)},
        {kGreeting + to_name("a.b:80", 80), refused(SocksReply::not_allowed)},
        {kGreeting + to_name(std::string(255, 'x'), 80), refused(SocksReply::not_allowed)},
    };
    for (const Case& c : cases)
        for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
            const Talk result = talk(c.input, size);
            EXPECT_EQ(result.step, Step::refuse) << quoted_text(c.input);
            EXPECT_EQ(result.output, c.output) << quoted_text(c.input);
        }
}

TEST(Socks5, AnHttpClientIsTold) {
    const Talk result = talk("GET http://a.b/ HTTP/1.1\r\n", 1);
    EXPECT_EQ(result.step, Step::refuse);
    EXPECT_THAT(result.output, ::testing::StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(result.output,
                ::testing::EndsWith("\r\n\r\nsandpipe: this is a SOCKS5 proxy; HTTP has a port of its own\n"));
}

TEST(Socks5, OffersAmongOthersAreTaken) {
    EXPECT_EQ(talk(bytes({5, 3, 2, 1, 0}) + to_name("a.b", 1), 100).destination, "a.b:1");
}

TEST(Socks5, WhatIsNotCompleteWaits) {
    const std::string whole = kGreeting + to_name("a.b", 443);
    for (std::size_t size = 1; size < whole.size(); ++size)
        EXPECT_EQ(talk(whole.substr(0, size), size).step, Step::more) << size;
}

}  // namespace
}  // namespace sandpipe
