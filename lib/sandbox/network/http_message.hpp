#pragma once

#include <http_parser.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

struct HttpField {
    std::string name;
    std::string value;
};

/// Whether two field names or tokens are one (RFC 9110: ASCII case does not count).
[[nodiscard]] bool same_token(std::string_view left, std::string_view right) noexcept;
/// Whether a comma-separated list has this token.
[[nodiscard]] bool has_token(std::string_view list, std::string_view token) noexcept;

/// The size of the head at the front of `bytes`, its empty line included; absent while that has not come. `seen`: how
/// much of it was looked at before.
[[nodiscard]] std::optional<std::size_t> find_head_end(std::string_view bytes, std::size_t seen) noexcept;

/// One HTTP/1 message as libhttp-parser reads it: its head as a whole, then how far its body reaches. Pure.
class HttpMessage {
  public:
    enum class Kind : std::uint8_t { request, response };

    explicit HttpMessage(Kind kind, bool answers_head = false);
    HttpMessage(const HttpMessage&) = delete;
    HttpMessage& operator=(const HttpMessage&) = delete;

    /// Reads exactly one head. False if it is none; `error` says why.
    [[nodiscard]] bool read_head(std::string_view head);
    /// How many of these bytes, which follow what was read so far, belong to the message. Less than all: it ends there,
    /// or is broken there.
    [[nodiscard]] std::size_t read_body(std::string_view bytes);
    /// The sender has closed. True if the message is complete by that.
    [[nodiscard]] bool end_of_input();

    [[nodiscard]] bool head_is_read() const noexcept { return head_is_valid_; }
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    [[nodiscard]] std::string error() const;

    [[nodiscard]] const std::string& target() const noexcept { return target_; }
    [[nodiscard]] const std::string& phrase() const noexcept { return phrase_; }
    [[nodiscard]] const std::vector<HttpField>& fields() const noexcept { return fields_; }
    [[nodiscard]] unsigned method() const noexcept { return parser_.method; }
    /// The head was not read for that reason.
    [[nodiscard]] bool method_is_unknown() const noexcept { return parser_.http_errno == HPE_INVALID_METHOD; }
    [[nodiscard]] unsigned status() const noexcept { return parser_.status_code; }
    /// 0 or 1 of HTTP/1.x; the head is not valid for other versions.
    [[nodiscard]] unsigned minor_version() const noexcept { return parser_.http_minor; }
    /// Whether the sender means to use the connection again, if the message's end can be told without its close.
    [[nodiscard]] bool keeps_alive() const noexcept { return keeps_alive_; }
    /// CONNECT, or a change of protocol that was asked for or agreed to.
    [[nodiscard]] bool upgrades() const noexcept { return upgrades_; }
    /// The head says how long the body is, or that it comes in chunks.
    [[nodiscard]] bool has_length() const noexcept { return has_length_; }

  private:
    struct Callbacks;

    std::size_t execute(std::string_view bytes);
    std::string& last_value();

    http_parser parser_{};
    const bool answers_head_;
    std::string target_;
    std::string phrase_;
    std::vector<HttpField> fields_;
    bool in_value_ = false;
    bool head_read_ = false;
    bool head_is_valid_ = false;
    bool complete_ = false;
    bool keeps_alive_ = false;
    bool upgrades_ = false;
    bool has_length_ = false;
};

}  // namespace sandpipe
