#include "sandbox/network/http_message.hpp"

#include <algorithm>

namespace sandpipe {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// RFC 9112, 6.3: their heads may tell a length all the same, which is that of another answer's body.
bool never_has_body(unsigned status) noexcept { return status == 204 || status == 304; }

}  // namespace

bool same_token(std::string_view left, std::string_view right) noexcept {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

bool has_token(std::string_view list, std::string_view token) noexcept {
    for (;;) {
        const std::size_t comma = list.find(',');
        if (same_token(trimmed(list.substr(0, comma)), token)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
}

std::optional<std::size_t> find_head_end(std::string_view bytes, std::size_t seen) noexcept {
    // Bare line feeds end lines too: so that such a head is looked at, and not waited for.
    for (std::size_t at = bytes.find('\n', seen > 2 ? seen - 2 : 0); at != std::string_view::npos;
         at = bytes.find('\n', at + 1)) {
        const std::string_view rest = bytes.substr(at + 1);
        if (rest.starts_with('\n')) return at + 2;
        if (rest.starts_with("\r\n")) return at + 3;
    }
    return {};
}

struct HttpMessage::Callbacks {
    static HttpMessage& of(http_parser* parser) { return *static_cast<HttpMessage*>(parser->data); }

    static int on_target(http_parser* parser, const char* at, std::size_t size) {
        of(parser).target_.append(at, size);
        return 0;
    }
    static int on_phrase(http_parser* parser, const char* at, std::size_t size) {
        of(parser).phrase_.append(at, size);
        return 0;
    }
    static int on_name(http_parser* parser, const char* at, std::size_t size) {
        HttpMessage& message = of(parser);
        if (message.head_read_) return 0;  // a trailer's
        if (message.fields_.empty() || message.in_value_) message.fields_.emplace_back();
        message.in_value_ = false;
        message.fields_.back().name.append(at, size);
        return 0;
    }
    static int on_value(http_parser* parser, const char* at, std::size_t size) {
        HttpMessage& message = of(parser);
        if (message.head_read_ || message.fields_.empty()) return 0;
        message.in_value_ = true;
        message.fields_.back().value.append(at, size);
        return 0;
    }
    static int on_head(http_parser* parser) {
        HttpMessage& message = of(parser);
        message.head_read_ = true;
        // Space behind a value is none of it (RFC 9110, 5.5).
        for (HttpField& field : message.fields_) field.value = trimmed(field.value);
        message.keeps_alive_ = ::http_should_keep_alive(parser) != 0;
        message.upgrades_ = parser->upgrade != 0;
        message.has_length_ = (parser->flags & (F_CHUNKED | F_CONTENTLENGTH)) != 0;
        return message.answers_head_ || never_has_body(parser->status_code) ? 1 : 0;
    }
    static int on_complete(http_parser* parser) {
        of(parser).complete_ = true;
        ::http_parser_pause(parser, 1);  // what follows is another message
        return 0;
    }
    static const http_parser_settings& table() {
        static const http_parser_settings settings = [] {
            http_parser_settings made;
            ::http_parser_settings_init(&made);
            made.on_url = on_target;
            made.on_status = on_phrase;
            made.on_header_field = on_name;
            made.on_header_value = on_value;
            made.on_headers_complete = on_head;
            made.on_message_complete = on_complete;
            return made;
        }();
        return settings;
    }
};

HttpMessage::HttpMessage(Kind kind, bool answers_head) : answers_head_(answers_head) {
    ::http_parser_init(&parser_, kind == Kind::request ? HTTP_REQUEST : HTTP_RESPONSE);
    parser_.data = this;
}

std::size_t HttpMessage::execute(std::string_view bytes) {
    return ::http_parser_execute(&parser_, &Callbacks::table(), bytes.data(), bytes.size());
}

bool HttpMessage::read_head(std::string_view head) {
    const std::size_t read = execute(head);
    const bool fine = parser_.http_errno == HPE_OK || (complete_ && parser_.http_errno == HPE_PAUSED);
    head_is_valid_ = fine && head_read_ && read == head.size() && parser_.http_major == 1 && parser_.http_minor <= 1;
    return head_is_valid_;
}

std::size_t HttpMessage::read_body(std::string_view bytes) {
    if (complete_ || bytes.empty()) return 0;
    return std::min(execute(bytes), bytes.size());
}

bool HttpMessage::end_of_input() {
    if (!complete_) execute({});
    return complete_;
}

std::string HttpMessage::error() const {
    const auto error = static_cast<http_errno>(parser_.http_errno);
    if (error == HPE_OK || error == HPE_PAUSED) return head_read_ ? "not HTTP/1.0 or HTTP/1.1" : "not a complete head";
    return ::http_errno_description(error);
}

}  // namespace sandpipe
