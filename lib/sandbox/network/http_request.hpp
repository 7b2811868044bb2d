#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "sandbox/network/destination.hpp"
#include "sandbox/network/http_message.hpp"

namespace sandpipe {

/// The longest head of a request or response, in bytes; a longer request is 431, a longer response 502.
inline constexpr std::size_t kMaxHttpHead = 64 * 1024;

/// Why the proxy answers by itself.
struct HttpRefusal {
    unsigned status = 400;
    std::string reason;  ///< one sentence without a full stop
};

/// What a client asks of the proxy.
struct HttpRequest {
    enum class Kind : std::uint8_t { tunnel, forward };

    Kind kind = Kind::forward;
    std::string method;
    Destination destination;
    std::string head;                      ///< forward: the head for the origin
    std::unique_ptr<HttpMessage> message;  ///< knows where the body ends
    bool keeps_alive = false;
    bool upgrades = false;  ///< forward: asks for another protocol, such as a web socket
    bool is_head = false;   ///< its answer has no body
};

/// Why no head can begin with these bytes; "" while one still may. A client that speaks another protocol waits for an
/// answer and sends no empty line.
[[nodiscard]] std::string wrong_beginning(std::string_view bytes);

/// Reads one head, up to its empty line. Strict: what two programs could read in two ways is 400. CONNECT names its
/// destination as host:port, every other method as an absolute http:// URL; a Host field decides nothing. The head for
/// the origin has the URL's path and host, and none of the fields that were for the proxy; it asks the origin to close
/// after its answer, so that one origin connection carries one judged request.
[[nodiscard]] std::variant<HttpRequest, HttpRefusal> read_http_request(std::string_view head);

/// The proxy's own answer. `is_head`: only the head of it.
[[nodiscard]] std::string own_response(const HttpRefusal& refusal, bool keep_alive, bool is_head);

/// The head of an origin's answer, as it goes to the client.
struct HttpResponse {
    enum class Kind : std::uint8_t { final, interim, upgrade };

    Kind kind = Kind::final;
    std::string head;
    std::unique_ptr<HttpMessage> message;
    bool keeps_alive = false;  ///< the client's connection can be used again after it
};

/// Absent for what is no answer to `request`.
[[nodiscard]] std::optional<HttpResponse> read_http_response(std::string_view head, const HttpRequest& request);

}  // namespace sandpipe
