#include "sandbox/network/http_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sandpipe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHost = "Host: a.b\r\n";

std::variant<HttpRequest, HttpRefusal> read(const std::string& head) { return read_http_request(head); }

HttpRequest accepted(const std::string& head) {
    auto result = read(head);
    if (const auto* refusal = std::get_if<HttpRefusal>(&result)) {
        ADD_FAILURE() << quoted_text(head) << ": " << refusal->reason;
        return {};
    }
    return std::move(std::get<HttpRequest>(result));
}

std::string refused(const std::string& head) {
    const auto result = read(head);
    if (const auto* refusal = std::get_if<HttpRefusal>(&result)) {
        EXPECT_EQ(refusal->status, 400U);
        return refusal->reason;
    }
    return "accepted";
}

TEST(HttpRequest, ATunnelNamesHostAndPort) {
    const HttpRequest request = accepted("CONNECT A.b.:443 HTTP/1.1\r\nHost: other.example\r\n\r\n");
    EXPECT_EQ(request.kind, HttpRequest::Kind::tunnel);
    EXPECT_EQ(request.destination.text(), "a.b:443");  // the Host field decides nothing
    EXPECT_TRUE(request.message->complete());
    EXPECT_TRUE(request.keeps_alive);
    EXPECT_EQ(accepted("CONNECT [::1]:443 HTTP/1.1\r\n\r\n").destination.text(), "[::1]:443");
    EXPECT_FALSE(accepted("CONNECT a.b:443 HTTP/1.0\r\n\r\n").keeps_alive);
    EXPECT_FALSE(accepted("CONNECT a.b:443 HTTP/1.1\r\nConnection: close\r\n\r\n").keeps_alive);
    EXPECT_EQ(accepted("CONNECT a.b:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n").destination.port, 443);
    EXPECT_THAT(refused("CONNECT http://a.b:443 HTTP/1.1\r\n\r\n"), HasSubstr("is a URL; it must be HOST:PORT"));
}

TEST(HttpRequest, AForwardedHeadHasTheOriginsForm) {
    const HttpRequest request = accepted(
        "GET http://A.b:8080/p?q=http://x/ HTTP/1.1\r\nHost: other.example\r\nAccept: */*\r\nConnection: X-One, "
        "close\r\n"
        "X-One: 1\r\nx-two: 2\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nTE: trailers\r\n"
        "Keep-Alive: 5\r\nUpgrade: h2c\r\n\r\n");
    EXPECT_EQ(request.destination.text(), "a.b:8080");
    EXPECT_EQ(request.head,
              "GET /p?q=http://x/ HTTP/1.1\r\nHost: a.b:8080\r\nAccept: */*\r\nx-two: 2\r\nConnection: close\r\n\r\n");
    EXPECT_FALSE(request.keeps_alive);
}

TEST(HttpRequest, PathsAreMadeWhereThereIsNone) {
    const auto line = [](const std::string& start) {
        const std::string head = accepted(start + " HTTP/1.1\r\n" + kHost + "\r\n").head;
        return head.substr(0, head.find("Connection"));
    };
    EXPECT_EQ(line("GET http://a.b"), "GET / HTTP/1.1\r\nHost: a.b\r\n");
    EXPECT_EQ(line("GET http://a.b?x"), "GET /?x HTTP/1.1\r\nHost: a.b\r\n");
    EXPECT_EQ(line("GET HTTP://a.b:80/"), "GET / HTTP/1.1\r\nHost: a.b\r\n");
    EXPECT_EQ(line("GET http://a.b:443/"), "GET / HTTP/1.1\r\nHost: a.b:443\r\n");
    EXPECT_EQ(line("GET http://[::1]:80/"), "GET / HTTP/1.1\r\nHost: [::1]\r\n");
    EXPECT_EQ(line("OPTIONS http://a.b"), "OPTIONS * HTTP/1.1\r\nHost: a.b\r\n");
    EXPECT_EQ(line("OPTIONS http://a.b/"), "OPTIONS / HTTP/1.1\r\nHost: a.b\r\n");
    EXPECT_EQ(line("M-SEARCH http://a.b/x"), "M-SEARCH /x HTTP/1.1\r\nHost: a.b\r\n");
}

TEST(HttpRequest, MethodsThatTheParserDoesNotKnowPassToo) {
    for (const std::string method : {"QUERY", "FROB", "brew", "GETS", "x-1!", "PRI"}) {
        const HttpRequest request =
            accepted(method + " http://a.b/p HTTP/1.1\r\n" + kHost + "Content-Length: 3\r\n\r\n");
        EXPECT_EQ(request.head,
                  method + " /p HTTP/1.1\r\nHost: a.b\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
        EXPECT_FALSE(request.message->complete());
        EXPECT_EQ(request.message->read_body("123GET"), 3U);
    }
    // None of them is CONNECT by another name, or gets around what is asked of a head.
    EXPECT_THAT(refused("connect a.b:443 HTTP/1.1\r\n" + kHost + "\r\n"), Not("accepted"));
    EXPECT_THAT(refused("Connect a.b:443 HTTP/1.1\r\n" + kHost + "\r\n"), Not("accepted"));
    EXPECT_THAT(refused("FROB /p HTTP/1.1\r\n" + kHost + "\r\n"), HasSubstr("this is a proxy"));
    EXPECT_THAT(refused("FROB http://a.b/ HTTP/1.1\r\n\r\n"), HasSubstr("Host is missing"));
    EXPECT_THAT(refused("FR(OB http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n"), HasSubstr("the method is no token"));
    EXPECT_THAT(
        refused("FROB http://a.b/ HTTP/1.1\r\n" + kHost + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Not("accepted"));
}

TEST(HttpRequest, WhatCannotBecomeARequestIsKnownByItsBeginning) {
    for (const std::string begins : {"", "\r", "G", "GET", "GET http://a.b/ HTTP/1", "CONNECT a.b:1 HTTP/1.1\r",
                                     "GET http://a.b/ HTTP/1.1\r\nHost", "FROB x HTTP/1.0\r\n"})
        EXPECT_EQ(wrong_beginning(begins), "") << begins;
    EXPECT_THAT(wrong_beginning("\x16\x03"), HasSubstr("without TLS"));
    EXPECT_THAT(wrong_beginning("\x05\x01"), HasSubstr("SOCKS5 has a port of its own"));
    EXPECT_THAT(wrong_beginning("\x04\x01"), HasSubstr("SOCKS5 has a port of its own"));
    EXPECT_THAT(wrong_beginning(std::string(1, '\0')), HasSubstr("no HTTP request"));
    EXPECT_THAT(wrong_beginning(" GET"), HasSubstr("no HTTP request"));
    EXPECT_THAT(wrong_beginning("\n"), HasSubstr("no HTTP request"));
    EXPECT_THAT(wrong_beginning("GET http://a.b/\r\n"), HasSubstr("not METHOD TARGET VERSION"));
    EXPECT_THAT(wrong_beginning("hello\r\n"), HasSubstr("not METHOD TARGET VERSION"));
    EXPECT_THAT(wrong_beginning("GET http://a.b/ HTTP/1.1\n"), HasSubstr("CR LF"));
    EXPECT_THAT(wrong_beginning("PRI * HTTP/2.0\r\n"), HasSubstr("not HTTP/1.0 or HTTP/1.1"));
}

TEST(HttpRequest, KeepsTheClientsVersion) {
    const HttpRequest request = accepted("GET http://a.b/ HTTP/1.0\r\n\r\n");
    EXPECT_THAT(request.head, ::testing::StartsWith("GET / HTTP/1.0\r\nHost: a.b\r\n"));
    EXPECT_FALSE(request.keeps_alive);
    EXPECT_TRUE(accepted("GET http://a.b/ HTTP/1.0\r\nProxy-Connection: keep-alive\r\n\r\n").keeps_alive);
}

TEST(HttpRequest, WebSocketsKeepTheirUpgrade) {
    const HttpRequest request = accepted("GET http://a.b/ws HTTP/1.1\r\n" + kHost +
                                         "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
                                         "Sec-WebSocket-Key: x\r\n\r\n");
    EXPECT_TRUE(request.upgrades);
    EXPECT_THAT(request.head, ::testing::EndsWith("Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
    EXPECT_FALSE(accepted("GET http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n").upgrades);
}

TEST(HttpRequest, SpaceBehindAValueIsNoneOfIt) {
    const HttpRequest request =
        accepted("POST http://a.b/ HTTP/1.1\r\n" + kHost + "Content-Length: 3  \r\nX: a b  \r\nY:   \r\n\r\n");
    EXPECT_THAT(request.head, HasSubstr("Content-Length: 3\r\nX: a b\r\nY: \r\n"));
    EXPECT_FALSE(request.message->complete());
}

TEST(HttpRequest, ConnectionCannotRemoveWhatFramesTheMessage) {
    const HttpRequest request = accepted("POST http://a.b/ HTTP/1.1\r\n" + kHost +
                                         "Connection: content-length, host\r\nContent-Length: 3\r\n\r\n");
    EXPECT_THAT(request.head, HasSubstr("Content-Length: 3\r\n"));
    EXPECT_THAT(request.head, HasSubstr("Host: a.b\r\n"));
}

TEST(HttpRequest, WhatTwoProgramsCouldReadDifferentlyIsRefused) {
    const std::string get = "GET http://a.b/ HTTP/1.1\r\n" + kHost;
    const std::string post = "POST http://a.b/ HTTP/1.1\r\n" + kHost;
    const std::vector<std::pair<std::string, const char*>> cases{
        {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", ""},
        {post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", ""},
        {post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
        {post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", ""},
        {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
        {post + "Transfer-Encoding: gzip\r\n\r\n", ""},
        {post + "Transfer-Encoding: gzip, chunked\r\n\r\n", ""},
        {post + "Transfer-Encoding: chunked, identity\r\n\r\n", ""},
        {post + "Transfer-Encoding: xchunked\r\n\r\n", ""},
        {"POST http://a.b/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1"},
        {post + "Content-Length: -1\r\n\r\n", ""},
        {post + "Content-Length: +1\r\n\r\n", ""},
        {post + "Content-Length: 0x1\r\n\r\n", ""},
        {post + "Content-Length: 1 2\r\n\r\n", ""},
        {post + "Content-Length: 1,1\r\n\r\n", ""},
        {post + "Content-Length:\r\n\r\n", ""},
        {post + "Content-Length: 99999999999999999999\r\n\r\n", ""},
        {post + "Content-Length : 1\r\n\r\n", "wrong character"},
        {get + "X: 1\r\n 2\r\n\r\n", "folded"},
        {get + "X: 1\r\n\t2\r\n\r\n", "folded"},
        {get + "X: 1\n\r\n", "CR LF"},
        {get + "X: 1\r\n\n", "CR LF"},
        {"GET http://a.b/ HTTP/1.1\n" + kHost + "\r\n", "CR LF"},
        {get + "X: 1\r2\r\n\r\n", "CR in it"},
        {get + std::string("X: 1\0002\r\n\r\n", 10), "control character"},
        {get + "X: \x01\r\n\r\n", "control character"},
        {get + "X: \x7f\r\n\r\n", "control character"},
        {get + "no colon\r\n\r\n", "no name"},
        {get + ": x\r\n\r\n", "no name"},
        {get + "X Y: x\r\n\r\n", "wrong character"},
        {get + "X\xc3\xa4: x\r\n\r\n", "wrong character"},
        {get + "X(: x\r\n\r\n", "wrong character"},
        {get + "Host: a.b\r\n\r\n", "more than one Host"},
        {"GET http://a.b/ HTTP/1.1\r\n\r\n", "Host is missing"},
        {"GET  http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n", "space"},
        {"GET http://a.b/ x HTTP/1.1\r\n" + kHost + "\r\n", "space"},
        {"GET http://a.b/\x01 HTTP/1.1\r\n" + kHost + "\r\n", "control"},
        {"GET http://a.b/\xc3\xa4 HTTP/1.1\r\n" + kHost + "\r\n", "ASCII"},
        {"GET\thttp://a.b/ HTTP/1.1\r\n" + kHost + "\r\n", ""},
        {"GET http://a.b/\r\n" + kHost + "\r\n", "not METHOD"},
        {"GET http://a.b/ HTTP/2.0\r\n" + kHost + "\r\n", ""},
        {"GET http://a.b/ HTTP/1.2\r\n" + kHost + "\r\n", ""},
        {"GET http://a.b/ HTTP/11\r\n" + kHost + "\r\n", ""},
        {"GET http://a.b/ http/1.1\r\n" + kHost + "\r\n", ""},
        {"PRI * HTTP/2.0\r\n\r\n", ""},
        {"heaD http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n", "method"},
        {"get http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n", "method"},
        {"\r\nGET http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n", "empty line"},
        {get + "\r\nX", ""},
        {"\r\n", ""},
        {"\x16\x03\x01\x02\x01\r\n\r\n", ""},
    };
    for (const auto& [head, part] : cases) {
        const std::string reason = refused(head);
        EXPECT_NE(reason, "accepted") << quoted_text(head);
        EXPECT_THAT(reason, HasSubstr(part)) << quoted_text(head);
    }
    EXPECT_EQ(refused(get + "X: a\tb \xc3\xa4\r\n\r\n"), "accepted");
    EXPECT_EQ(refused(post + "Transfer-Encoding: Chunked\r\n\r\n"), "accepted");
}

// Refused by the rules, which makes it a denial.
TEST(HttpRequest, SpellingsThatSomeTakeForAnAddressAreHosts) {
    for (const std::string host : {"2130706433", "0x7f.1", "127.1", "0177.0.0.1"})
        for (const std::string& line : {"GET http://" + host + "/", "CONNECT " + host + ":80"}) {
            const auto read = read_http_request(line + " HTTP/1.1\r\n" + kHost + "\r\n");
            ASSERT_TRUE(std::holds_alternative<HttpRequest>(read)) << line;
            const Host& asked = std::get<HttpRequest>(read).destination.host;
            EXPECT_EQ(asked.name, host);
            EXPECT_TRUE(asked.is_guesswork());
        }
}

TEST(HttpRequest, DestinationsThatAreNoneAreRefused) {
    const std::vector<std::pair<std::string, const char*>> cases{
        {"/", "this is a proxy"},
        {"*", "this is a proxy"},
        {"a.b/", ""},
        {"https://a.b/", "CONNECT"},
        {"ftp://a.b/", "http:// URL"},
        {"ws://a.b/", "http:// URL"},
        {"http:/a.b/", ""},
        {"http://", ""},
        {"http:///x", ""},
        {"http://@a.b/", "user information"},
        {"http://u:p@a.b/", "user information"},
        {"http://ok.b@evil.c/", "user information"},
        {"http://evil.c#@a.b/", ""},
        {"http://a.b/#x", "fragment"},
        {"http://evil.c\\@a.b/", ""},
        {"http://evil.c\\.a.b/", ""},
        {"http://a.b:0/", "port"},
        {"http://a.b:/", ""},
        {"http://a.b:65536/", ""},
        {"http://a%2eb/", ""},
        {"http://a..b/", ""},
        {"http://[::1/", ""},
        {"http://[fe80::1%25lo]/", ""},
    };
    for (const auto& [target, part] : cases) {
        const std::string reason = refused("GET " + target + " HTTP/1.1\r\n" + kHost + "\r\n");
        EXPECT_NE(reason, "accepted") << target;
        EXPECT_THAT(reason, HasSubstr(part)) << target;
    }
    for (const std::string target : {"a.b", "a.b:", "a.b:0", ":443", "/", "http://a.b:443", "u@a.b:443", "a.b:443/x",
                                     "[::1]", "::1:443"})
        EXPECT_NE(refused("CONNECT " + target + " HTTP/1.1\r\n\r\n"), "accepted") << target;
    EXPECT_EQ(refused("CONNECT a.b:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\n"), "CONNECT has a body");
    EXPECT_EQ(refused("CONNECT a.b:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), "CONNECT has a body");
}

TEST(HttpHead, ItsEndIsFoundInPiecesOfAnySize) {
    const std::string head = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
    const std::string all = head + "body\r\n\r\n";
    for (std::size_t size = 0; size <= all.size(); ++size)
        for (std::size_t seen = 0; seen <= std::min(size, head.size() - 1); ++seen) {
            const auto end = find_head_end(std::string_view(all).substr(0, size), seen);
            if (size < head.size())
                EXPECT_FALSE(end) << size;
            else
                EXPECT_EQ(end, head.size()) << size << " seen " << seen;
        }
    EXPECT_EQ(find_head_end("A\n\nB", 0), 3U);
    EXPECT_EQ(find_head_end("A\n\r\nB", 0), 4U);
}

/// How many bytes of `body` belong to the message, given in pieces of `size`.
std::size_t taken(HttpMessage& message, const std::string& body, std::size_t size) {
    std::size_t total = 0;
    while (total < body.size() && !message.complete()) {
        const std::string_view piece = std::string_view(body).substr(total, size);
        const std::size_t used = message.read_body(piece);
        total += used;
        if (used < piece.size()) break;
    }
    return total;
}

TEST(HttpBody, EndsWhereItsHeadSays) {
    const std::string chunked = "3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\nTrailer: x\r\n\r\n";
    struct Case {
        std::string fields;
        std::string body;
    };
    const std::vector<Case> cases{{"", ""},
                                  {"Content-Length: 0\r\n", ""},
                                  {"Content-Length: 5\r\n", "12345"},
                                  {"Transfer-Encoding: chunked\r\n", "0\r\n\r\n"},
                                  {"Transfer-Encoding: chunked\r\n", chunked}};
    for (const Case& c : cases)
        for (const std::size_t size : {1UL, 2UL, 7UL, 1000UL}) {
            const HttpRequest request = accepted("POST http://a.b/ HTTP/1.1\r\n" + kHost + c.fields + "\r\n");
            EXPECT_EQ(taken(*request.message, c.body + "GET next", size), c.body.size()) << c.fields << size;
            EXPECT_TRUE(request.message->complete()) << c.fields << size;
        }
}

TEST(HttpBody, BrokenChunksAreNotPassedOn) {
    for (const std::string body : {"x\r\n", "-1\r\nx", "3\r\nabcd\r\n", "ffffffffffffffffff\r\n"}) {
        const HttpRequest request =
            accepted("POST http://a.b/ HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n");
        EXPECT_LT(taken(*request.message, body, 1000), body.size()) << body;
        EXPECT_FALSE(request.message->complete());
    }
}

HttpRequest plain_get() { return accepted("GET http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n"); }

TEST(HttpResponse, ItsHeadIsForTheClient) {
    const HttpRequest request = plain_get();
    const auto response = read_http_response(
        "HTTP/1.0 200 Fine\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 3\r\nContent-Length: 5\r\n\r\n",
        request);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->head, "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_TRUE(response->keeps_alive);
    EXPECT_FALSE(response->message->complete());
}

TEST(HttpResponse, WithoutALengthTheCloseIsTheEnd) {
    const auto response = read_http_response("HTTP/1.1 200 OK\r\nX: y\r\n\r\n", plain_get());
    ASSERT_TRUE(response);
    EXPECT_FALSE(response->keeps_alive);
    EXPECT_THAT(response->head, HasSubstr("Connection: close\r\n"));
    EXPECT_EQ(taken(*response->message, "anything\r\n\r\n", 3), 12U);
    EXPECT_TRUE(response->message->end_of_input());
    const auto cut = read_http_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", plain_get());
    EXPECT_EQ(taken(*cut->message, "1234", 9), 4U);
    EXPECT_FALSE(cut->message->end_of_input());
}

TEST(HttpResponse, SomeHaveNoBodyWhateverTheySay) {
    const HttpRequest head = accepted("HEAD http://a.b/ HTTP/1.1\r\n" + kHost + "\r\n");
    EXPECT_TRUE(read_http_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", head)->message->complete());
    for (const std::string status : {"204 No Content", "304 Not Modified"})
        for (const std::string fields : {"", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
            const auto response = read_http_response("HTTP/1.1 " + status + "\r\n" + fields + "\r\n", plain_get());
            ASSERT_TRUE(response) << status << fields;
            EXPECT_TRUE(response->message->complete()) << status << fields;
            EXPECT_TRUE(response->keeps_alive) << status << fields;
        }
}

TEST(HttpResponse, InterimAndUpgrade) {
    const auto interim = read_http_response("HTTP/1.1 100 Continue\r\n\r\n", plain_get());
    ASSERT_TRUE(interim);
    EXPECT_EQ(interim->kind, HttpResponse::Kind::interim);
    EXPECT_EQ(interim->head, "HTTP/1.1 100 Continue\r\n\r\n");
    const std::string switching = "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nA: b\r\n\r\n";
    EXPECT_FALSE(read_http_response(switching, plain_get())) << "nobody asked for it";
    const HttpRequest asked = accepted("GET http://a.b/ HTTP/1.1\r\n" + kHost +
                                       "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    const auto response = read_http_response(switching, asked);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->kind, HttpResponse::Kind::upgrade);
    EXPECT_EQ(response->head, "HTTP/1.1 101 Switching\r\nA: b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

TEST(HttpResponse, WhatIsNoneIsNone) {
    for (const std::string head : {"SSH-2.0-x\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "\r\n\r\n",
                                   "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                                   "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"})
        EXPECT_FALSE(read_http_response(head, plain_get())) << quoted_text(head);
}

TEST(OwnResponse, IsATextWithTheReason) {
    const HttpRefusal refusal{403, "no"};
    EXPECT_EQ(own_response(refusal, true, false),
              "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n"
              "Connection: keep-alive\r\n\r\nsandpipe: no\n");
    EXPECT_THAT(own_response(refusal, false, true), ::testing::EndsWith("Connection: close\r\n\r\n"));
}

}  // namespace
}  // namespace sandpipe
