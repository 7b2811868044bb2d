#include "sandbox/network/http_request.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace sandpipe {
namespace {

constexpr std::uint16_t kHttpPort = 80;

// Fields between a client and its proxy, or a proxy and its origin (RFC 9110, 7.6.1). Transfer-Encoding is one of
// them too, but stays, because bodies pass as they are.
constexpr std::array<std::string_view, 7> kOneHop{
    "connection", "proxy-connection", "keep-alive", "proxy-authorization", "proxy-authenticate", "te", "upgrade"};

// Naming one of these in Connection must not remove it: the message would mean something else.
constexpr std::array<std::string_view, 4> kFraming{"transfer-encoding", "content-length", "host", "trailer"};

template <typename Names>
bool is_one_of(const Names& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view one) { return same_token(one, name); });
}

bool is_token(char c) {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

bool is_printable(char c) { return c > ' ' && c < 0x7f; }

/// METHOD SP TARGET SP HTTP/1.x, and nothing else.
std::string wrong_request_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return "the request line is not METHOD TARGET VERSION";
    const std::string_view method = line.substr(0, first);
    if (method.empty() || !std::all_of(method.begin(), method.end(), is_token)) return "the method is no token";
    const std::string_view target = line.substr(first + 1, last - first - 1);
    if (!std::all_of(target.begin(), target.end(), is_printable))
        return "the request target has a space, control character or one outside of ASCII";
    const std::string_view version = line.substr(last + 1);
    if (version != "HTTP/1.0" && version != "HTTP/1.1") return "not HTTP/1.0 or HTTP/1.1";
    return {};
}

/// What speaks another protocol, and waits for an answer in that.
std::string wrong_protocol(char first) {
    constexpr char kTlsHandshake = 0x16;
    if (is_token(first)) return {};
    if (first == kTlsHandshake) return "this proxy is spoken to without TLS: its URL begins with http://";
    if (first == 4 || first == 5) return "this is an HTTP proxy; SOCKS5 has a port of its own";
    return "this is no HTTP request";
}

std::string wrong_field_line(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t') return "a header field is folded over lines";
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return "a header line has no name";
    const std::string_view name = line.substr(0, colon);
    if (!std::all_of(name.begin(), name.end(), is_token)) return "a header field's name has a wrong character";
    if (std::any_of(line.begin(), line.end(), is_control)) return "a header field has a control character";
    return {};
}

/// What parsers differ about is looked at here, byte by byte, before one of them reads it.
std::string wrong_head(std::string_view head) {
    for (bool first = true; !head.empty(); first = false) {
        const std::size_t end = head.find('\n');
        if (end == std::string_view::npos || end == 0 || head[end - 1] != '\r') return "a line does not end with CR LF";
        const std::string_view line = head.substr(0, end - 1);
        head.remove_prefix(end + 1);
        if (line.empty()) return head.empty() && !first ? "" : "an empty line stands before the head";
        if (line.find('\r') != std::string_view::npos) return "a line has a CR in it";
        if (std::string wrong = first ? wrong_request_line(line) : wrong_field_line(line); !wrong.empty()) return wrong;
    }
    return "the head has no empty line at its end";
}

const std::string* find_field(const HttpMessage& message, std::string_view name) {
    for (const HttpField& field : message.fields())
        if (same_token(field.name, name)) return &field.value;
    return nullptr;
}

std::size_t count_fields(const HttpMessage& message, std::string_view name) {
    return static_cast<std::size_t>(
        std::count_if(message.fields().begin(), message.fields().end(),
                      [&](const HttpField& field) { return same_token(field.name, name); }));
}

/// Two ways to tell where the body ends are one too many.
std::string wrong_framing(const HttpMessage& message) {
    constexpr std::size_t kMaxDigits = 18;
    const std::size_t lengths = count_fields(message, "content-length");
    const std::size_t encodings = count_fields(message, "transfer-encoding");
    if (lengths + encodings > 1) return "more than one Content-Length or Transfer-Encoding";
    if (const std::string* length = find_field(message, "content-length"))
        if (length->empty() || length->size() > kMaxDigits ||
            !std::all_of(length->begin(), length->end(), [](char c) { return c >= '0' && c <= '9'; }))
            return "Content-Length is no number";
    if (const std::string* encoding = find_field(message, "transfer-encoding"))
        if (!same_token(*encoding, "chunked") || message.minor_version() == 0)
            return "Transfer-Encoding is not \"chunked\", or not of HTTP/1.1";
    const std::size_t hosts = count_fields(message, "host");
    if (hosts > 1) return "more than one Host";
    if (hosts == 0 && message.minor_version() == 1 && message.method() != HTTP_CONNECT) return "Host is missing";
    return {};
}

bool is_forwarded(const HttpMessage& message, const HttpField& field) {
    if (is_one_of(kOneHop, field.name)) return false;
    if (is_one_of(kFraming, field.name)) return true;
    for (const HttpField& other : message.fields())
        if (same_token(other.name, "connection") && has_token(other.value, field.name)) return false;
    return true;
}

std::string forwarded_fields(const HttpMessage& message) {
    std::string text;
    for (const HttpField& field : message.fields())
        if (!same_token(field.name, "host") && is_forwarded(message, field))
            text += field.name + ": " + field.value + "\r\n";
    return text;
}

/// http://authority/path, taken apart.
struct AbsoluteUrl {
    Destination destination;
    std::string authority;  ///< as the origin sees it in Host
    std::string path;
};

std::variant<AbsoluteUrl, HttpRefusal> read_url(std::string_view target, bool is_options) {
    constexpr std::string_view kScheme = "http://";
    if (target.starts_with('/') || target == "*")
        return HttpRefusal{400, "this is a proxy: it takes CONNECT, and URLs that begin with http://"};
    if (target.size() < kScheme.size() || !same_token(target.substr(0, kScheme.size()), kScheme))
        return HttpRefusal{400, "the target is no http:// URL; for https use CONNECT"};
    target.remove_prefix(kScheme.size());
    if (target.find('#') != std::string_view::npos) return HttpRefusal{400, "the URL has a fragment (\"#\")"};
    if (target.find('\\') != std::string_view::npos) return HttpRefusal{400, "the URL has a backslash"};
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    Parsed<Destination> parsed = parse_authority(target.substr(0, end), kHttpPort);
    if (const auto* wrong = std::get_if<std::string>(&parsed))
        return HttpRefusal{400, "the URL's host " + quoted_text(target.substr(0, end)) + " " + *wrong};
    AbsoluteUrl url;
    url.destination = std::move(std::get<Destination>(parsed));
    url.authority = url.destination.text();
    if (url.destination.port == kHttpPort) url.authority.resize(url.authority.rfind(':'));
    const std::string_view path = target.substr(end);
    url.path = path.empty() && is_options ? "*" : path.starts_with('/') ? std::string(path) : "/" + std::string(path);
    return url;
}

std::variant<HttpRequest, HttpRefusal> read_connect(HttpRequest request) {
    const HttpMessage& message = *request.message;
    const std::string* length = find_field(message, "content-length");
    if ((length && *length != "0") || find_field(message, "transfer-encoding"))
        return HttpRefusal{400, "CONNECT has a body"};
    Parsed<Destination> parsed = parse_authority(message.target());
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
        const bool is_url = message.target().find("://") != std::string::npos;
        return HttpRefusal{400, "CONNECT's target " + quoted_text(message.target()) + " " +
                                    (is_url ? "is a URL; it must be HOST:PORT" : *wrong)};
    }
    request.kind = HttpRequest::Kind::tunnel;
    request.destination = std::move(std::get<Destination>(parsed));
    return request;
}

std::variant<HttpRequest, HttpRefusal> read_forward(HttpRequest request) {
    const HttpMessage& message = *request.message;
    auto read = read_url(message.target(), message.method() == HTTP_OPTIONS);
    if (auto* refusal = std::get_if<HttpRefusal>(&read)) return std::move(*refusal);
    AbsoluteUrl& url = std::get<AbsoluteUrl>(read);
    const std::string* upgrade = find_field(message, "upgrade");
    request.upgrades = message.upgrades() && upgrade != nullptr;
    request.head = request.method + " " + url.path + " HTTP/1." + std::to_string(message.minor_version()) +
                   "\r\nHost: " + url.authority + "\r\n" + forwarded_fields(message);
    request.head += request.upgrades ? "Connection: Upgrade\r\nUpgrade: " + *upgrade + "\r\n\r\n"
                                     : "Connection: close\r\n\r\n";
    request.destination = std::move(url.destination);
    return request;
}

std::string_view phrase_of(unsigned status) {
    switch (status) {
        case 403:
            return "Forbidden";
        case 431:
            return "Request Header Fields Too Large";
        case 408:
            return "Request Timeout";
        case 502:
            return "Bad Gateway";
        case 504:
            return "Gateway Timeout";
        default:
            return "Bad Request";
    }
}

std::string in_capitals(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return result;
}

std::unique_ptr<HttpMessage> read_with_method(std::string_view method, std::string_view rest) {
    auto message = std::make_unique<HttpMessage>(HttpMessage::Kind::request);
    (void)message->read_head(std::string(method) + std::string(rest));
    return message;
}

/// Where a body ends does not depend on the method, but for CONNECT: one that the parser does not know (QUERY, or an
/// origin's own) is read as POST. Not one that is known but for its case: some take that for the same.
std::unique_ptr<HttpMessage> read_request_head(std::string_view head) {
    const std::string_view method = head.substr(0, head.find(' '));
    const std::string_view rest = head.substr(method.size());
    auto message = read_with_method(method, rest);
    if (!message->method_is_unknown() || !read_with_method(in_capitals(method), rest)->method_is_unknown())
        return message;
    return read_with_method("POST", rest);
}

}  // namespace

std::string wrong_beginning(std::string_view bytes) {
    if (bytes.empty() || bytes == "\r") return {};
    if (std::string wrong = wrong_protocol(bytes.front()); !wrong.empty()) return wrong;
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return {};
    if (bytes[end - 1] != '\r') return "a line does not end with CR LF";
    return wrong_request_line(bytes.substr(0, end - 1));
}

std::variant<HttpRequest, HttpRefusal> read_http_request(std::string_view head) {
    if (const std::string wrong = wrong_head(head); !wrong.empty()) return HttpRefusal{400, wrong};
    HttpRequest request;
    request.method = head.substr(0, head.find(' '));
    request.message = read_request_head(head);
    if (!request.message->head_is_read()) return HttpRefusal{400, request.message->error()};
    if (const std::string wrong = wrong_framing(*request.message); !wrong.empty()) return HttpRefusal{400, wrong};
    request.keeps_alive = request.message->keeps_alive();
    request.is_head = request.message->method() == HTTP_HEAD;
    if (request.message->method() == HTTP_CONNECT) return read_connect(std::move(request));
    return read_forward(std::move(request));
}

std::string own_response(const HttpRefusal& refusal, bool keep_alive, bool is_head) {
    const std::string body = "sandpipe: " + refusal.reason + "\n";
    std::string text = "HTTP/1.1 " + std::to_string(refusal.status) + " " + std::string(phrase_of(refusal.status)) +
                       "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
                       "\r\nConnection: " + (keep_alive ? "keep-alive" : "close") + "\r\n\r\n";
    return is_head ? text : text + body;
}

std::optional<HttpResponse> read_http_response(std::string_view head, const HttpRequest& request) {
    constexpr unsigned kSwitching = 101;
    HttpResponse response;
    response.message = std::make_unique<HttpMessage>(HttpMessage::Kind::response, request.is_head);
    HttpMessage& message = *response.message;
    if (!message.read_head(head) || message.status() < 100) return {};
    const bool interim = message.status() < 200;
    if (message.status() == kSwitching) response.kind = HttpResponse::Kind::upgrade;
    if (message.status() == kSwitching && !request.upgrades) return {};
    if (interim && message.status() != kSwitching) response.kind = HttpResponse::Kind::interim;
    // Without a length the end of the body is the origin's close, and has to be ours then.
    response.keeps_alive = request.keeps_alive && (message.complete() || message.has_length());
    response.head = "HTTP/1.1 " + std::to_string(message.status()) + " " + message.phrase() + "\r\n" +
                    forwarded_fields(message);
    if (response.kind == HttpResponse::Kind::upgrade) {
        const std::string* upgrade = find_field(message, "upgrade");
        response.head += "Connection: Upgrade\r\nUpgrade: " + (upgrade ? *upgrade : std::string()) + "\r\n";
    } else if (!interim) {
        response.head += response.keeps_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
    }
    response.head += "\r\n";
    return response;
}

}  // namespace sandpipe
