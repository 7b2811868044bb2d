// Heads and bodies: whatever comes, what goes on to an origin is one well-formed head for the judged host.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/network/http_request.hpp"

using namespace sandpipe;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void check_forwarded(const HttpRequest& request) {
    require(request.head.ends_with("\r\n\r\n"));
    require(find_head_end(request.head, 0) == request.head.size());
    // An origin reads the same host from it.
    const std::size_t host = request.head.find("\r\nHost: ") + 8;
    const auto parsed =
        parse_authority(std::string_view(request.head).substr(host, request.head.find("\r\n", host) - host), 80);
    require(std::holds_alternative<Destination>(parsed) && std::get<Destination>(parsed) == request.destination);
    HttpMessage again(HttpMessage::Kind::request);
    if (!again.read_head(request.head)) {
        require(again.method_is_unknown() && request.head.starts_with(request.method + " "));
        return;
    }
    require(again.complete() == request.message->complete());
}

/// What is refused before it is whole would have been refused then.
void check_beginnings(std::string_view head) {
    for (std::size_t size = 0; size <= head.size(); ++size) require(wrong_beginning(head.substr(0, size)).empty());
}

void check_request(std::string_view text) {
    const auto end = find_head_end(text, 0);
    auto read = read_http_request(text.substr(0, end.value_or(text.size())));
    auto* request = std::get_if<HttpRequest>(&read);
    if (!request) return;
    require(end.has_value());
    check_beginnings(text.substr(0, *end));
    if (request->kind == HttpRequest::Kind::forward) check_forwarded(*request);
    const std::string_view body = text.substr(*end);
    require(request->message->read_body(body) <= body.size());
}

void check_response(std::string_view text) {
    static const HttpRequest request =
        std::move(std::get<HttpRequest>(read_http_request("GET http://a.b/ HTTP/1.1\r\nHost: a.b\r\n\r\n")));
    const auto end = find_head_end(text, 0);
    if (!end) return;
    auto response = read_http_response(text.substr(0, *end), request);
    if (!response) return;
    require(find_head_end(response->head, 0) == response->head.size());
    const std::string_view body = text.substr(*end);
    require(response->message->read_body(body) <= body.size());
    (void)response->message->end_of_input();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_request(text);
    check_response(text);
    return 0;
}
