#include "sandbox/network/http_proxy.hpp"

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include "sandbox/network/http_request.hpp"
#include "sandbox/network/relay.hpp"
#include "sandbox/network/socket_ends.hpp"

namespace sandpipe {
namespace {

using asio::experimental::awaitable_operators::operator||;
using Clock = std::chrono::steady_clock;

/// What becomes of the client's connection.
enum class After : std::uint8_t {
    next_request,
    close,
    tunnel,  ///< both sides speak another protocol now
};

/// How the sending of a request's body ended.
enum class BodyEnd : std::uint8_t {
    whole,
    unwanted,   ///< the origin takes no more of it
    malformed,  ///< its chunks are none
    cut_short,  ///< the client is gone
};

[[noreturn]] void give_up(ProxyConnection& connection) {
    break_off(connection.client());
    throw std::system_error(asio::error::connection_reset);
}

unsigned status_for(const DialFailure& failure) {
    switch (failure.kind) {
        case DialFailure::Kind::denied:
            return 403;
        case DialFailure::Kind::timed_out:
            return 504;
        case DialFailure::Kind::unresolved:
        case DialFailure::Kind::unreachable:
            break;
    }
    return 502;
}

class HttpServing {
  public:
    explicit HttpServing(ProxyConnection& connection) : connection_(connection) {}

    awaitable<void> run();

  private:
    awaitable<std::size_t> read_head(std::chrono::nanoseconds limit);
    awaitable<After> answer(std::string head);
    awaitable<After> refuse(HttpRefusal refusal, bool keep_alive, bool is_head);
    awaitable<After> forward(HttpRequest request);
    awaitable<BodyEnd> send_body(HttpMessage& message);
    awaitable<BodyEnd> send_and_wait(HttpMessage& message);
    awaitable<After> await_response(const HttpRequest& request);
    awaitable<After> relay_response(const HttpRequest& request);
    awaitable<After> relay_response_body(HttpResponse response);
    awaitable<void> send_response_head(std::string head);
    awaitable<std::size_t> read_response();

    ProxyConnection& connection_;
    std::string input_;   // from the client, not used yet
    std::string output_;  // from the origin, not used yet
    HttpRefusal problem_;
    bool answering_ = false;  // the client has a part of an answer
    bool broken_ = false;     // one side went away within an answer
};

awaitable<void> HttpServing::run() {
    After after = After::next_request;
    for (auto limit = connection_.limits().first_head; after == After::next_request;
         limit = connection_.limits().next_head) {
        const std::size_t size = co_await read_head(limit);
        if (size == 0) {
            after = After::close;
            if (!problem_.reason.empty()) after = co_await refuse(problem_, false, false);
            continue;
        }
        std::string head = input_.substr(0, size);
        input_.erase(0, size);
        after = co_await answer(std::move(head));
    }
    if (after == After::tunnel) {
        co_await write_all(connection_.upstream(), input_);
        co_await write_all(connection_.client(), output_);
        // A quiet tunnel holds no buffers.
        std::string().swap(input_);
        std::string().swap(output_);
        co_await relay_both_ways(connection_.client(), connection_.upstream());
    } else {
        co_await connection_.close_gently();
    }
}

/// The size of the head at the front of `input_`; 0 where none comes, and `problem_` says why if it is the client's.
awaitable<std::size_t> HttpServing::read_head(std::chrono::nanoseconds limit) {
    const auto until = Clock::now() + limit;
    problem_ = {};
    for (std::size_t seen = 0;;) {
        // What some clients put behind a body (RFC 9112, 2.2).
        while (input_.starts_with("\r\n")) input_.erase(0, 2);
        if (const auto size = find_head_end(input_, seen)) {
            if (*size <= kMaxHttpHead) co_return *size;
            problem_ = {431, "the request's head is larger than 64 KiB"};
            co_return 0;
        }
        if (input_.size() > kMaxHttpHead) {
            problem_ = {431, "the request's head is larger than 64 KiB"};
            co_return 0;
        }
        if (std::string wrong = wrong_beginning(input_); !wrong.empty()) {
            problem_ = {400, std::move(wrong)};
            co_return 0;
        }
        seen = input_.size();
        bool timed_out = false;
        if (co_await connection_.read_from_client(input_, until, timed_out) > 0) continue;
        if (timed_out && !input_.empty()) problem_ = {408, "the request's head did not come in time"};
        co_return 0;
    }
}

awaitable<After> HttpServing::answer(std::string head) {
    auto read = read_http_request(head);
    if (auto* refusal = std::get_if<HttpRefusal>(&read)) co_return co_await refuse(std::move(*refusal), false, false);
    HttpRequest request = std::move(std::get<HttpRequest>(read));
    if (auto failure = co_await connection_.dial(request.destination)) {
        const bool keep_alive = request.keeps_alive && request.message->complete();
        HttpRefusal refusal{status_for(*failure), std::move(failure->text)};
        co_return co_await refuse(std::move(refusal), keep_alive, request.is_head);
    }
    if (request.kind == HttpRequest::Kind::forward) co_return co_await forward(std::move(request));
    output_ = "HTTP/1.1 200 Connection established\r\n\r\n";
    co_return After::tunnel;
}

awaitable<After> HttpServing::refuse(HttpRefusal refusal, bool keep_alive, bool is_head) {
    const std::string text = own_response(refusal, keep_alive, is_head);
    co_await write_all(connection_.client(), text);
    co_return keep_alive ? After::next_request : After::close;
}

/// The origin may answer before it has the whole body, and a client that waits for "100 Continue" sends it only then:
/// so both run at once, and the answer decides.
awaitable<After> HttpServing::forward(HttpRequest request) {
    output_.clear();
    answering_ = false;
    co_await write_all(connection_.upstream(), request.head);
    const auto first = co_await (await_response(request) || send_and_wait(*request.message));
    const After after = first.index() == 0 ? std::get<0>(first) : After::close;
    if (after == After::tunnel) co_return after;
    std::error_code ignored;
    connection_.upstream().close(ignored);
    if (first.index() == 1 && std::get<1>(first) == BodyEnd::malformed && !answering_) {
        HttpRefusal refusal{400, "the request's body is not made of chunks"};
        co_return co_await refuse(std::move(refusal), false, request.is_head);
    }
    if (broken_ || first.index() == 1) give_up(connection_);
    co_return request.message->complete() ? after : After::close;
}

/// Completes only where the answer needs no waiting for.
awaitable<BodyEnd> HttpServing::send_and_wait(HttpMessage& message) {
    BodyEnd end = BodyEnd::unwanted;
    try {
        end = co_await send_body(message);
    } catch (const std::system_error&) {
        // An origin that wants no more of it may still answer.
    }
    if (end == BodyEnd::malformed || end == BodyEnd::cut_short) co_return end;
    asio::steady_timer until_answered(connection_.strand(), Clock::time_point::max());
    co_await until_answered.async_wait(asio::use_awaitable);
    co_return end;
}

awaitable<BodyEnd> HttpServing::send_body(HttpMessage& message) {
    for (bool timed_out = false; !message.complete();) {
        if (input_.empty() && co_await connection_.read_from_client(input_, Clock::time_point::max(), timed_out) == 0)
            co_return BodyEnd::cut_short;
        const std::size_t used = message.read_body(input_);
        const std::string_view body = std::string_view(input_).substr(0, used);
        co_await write_all(connection_.upstream(), body);
        const bool broken = used < input_.size() && !message.complete();
        input_.erase(0, used);
        if (broken) co_return BodyEnd::malformed;
    }
    co_return BodyEnd::whole;
}

/// Appends to `output_`; 0 at the origin's end.
awaitable<std::size_t> HttpServing::read_response() {
    for (;;) {
        co_await connection_.upstream().async_wait(asio::socket_base::wait_read, asio::use_awaitable);
        std::error_code error;
        const std::size_t size = append_available(connection_.upstream(), output_, error);
        if (error == asio::error::would_block) continue;
        if (error && error != asio::error::eof) throw std::system_error(error);
        co_return size;
    }
}

/// Without exceptions, because who waits for the first of two would wait on for the other.
awaitable<After> HttpServing::await_response(const HttpRequest& request) {
    try {
        co_return co_await relay_response(request);
    } catch (const std::system_error&) {
        broken_ = true;
    }
    co_return After::close;
}

awaitable<After> HttpServing::relay_response(const HttpRequest& request) {
    for (std::size_t seen = 0;;) {
        const auto size = find_head_end(output_, seen);
        seen = output_.size();
        if (!size && seen <= kMaxHttpHead && co_await read_response() > 0) continue;
        std::optional<HttpResponse> response;
        if (size && *size <= kMaxHttpHead)
            response = read_http_response(std::string_view(output_).substr(0, *size), request);
        if (!response) {
            answering_ = true;
            HttpRefusal refusal{502, request.destination.text() + " did not answer in HTTP/1"};
            co_return co_await refuse(std::move(refusal), request.keeps_alive, request.is_head);
        }
        output_.erase(0, *size);
        seen = 0;
        co_await send_response_head(response->head);
        if (response->kind == HttpResponse::Kind::upgrade) co_return After::tunnel;
        if (response->kind == HttpResponse::Kind::final) co_return co_await relay_response_body(std::move(*response));
        answering_ = false;  // after an interim one the answer can still be ours
    }
}

awaitable<void> HttpServing::send_response_head(std::string head) {
    answering_ = true;
    co_await write_all(connection_.client(), head);
}

awaitable<After> HttpServing::relay_response_body(HttpResponse response) {
    HttpMessage& message = *response.message;
    while (!message.complete()) {
        if (output_.empty() && co_await read_response() == 0) {
            // A body that is cut short must not look like a whole one.
            if (!message.end_of_input()) give_up(connection_);
            break;
        }
        const std::size_t used = message.read_body(output_);
        const std::string_view body = std::string_view(output_).substr(0, used);
        co_await write_all(connection_.client(), body);
        if (used < output_.size() && !message.complete()) give_up(connection_);
        output_.erase(0, used);
    }
    co_return response.keeps_alive ? After::next_request : After::close;
}

}  // namespace

awaitable<void> serve_http(ProxyConnection& connection) {
    HttpServing serving(connection);
    co_await serving.run();
}

}  // namespace sandpipe
