#pragma once

#include <string_view>
#include <utility>

#include "codec.hpp"
#include "messages.hpp"

namespace sandpipe::wire {

// Every packet begins with its type.

[[nodiscard]] inline Encoder begin(MessageType type) { return std::move(Encoder().number(type)); }

/// True if `in` begins with `type`.
[[nodiscard]] inline bool expect(Decoder& in, MessageType type) noexcept {
    MessageType seen{};
    in.number(seen);
    return in.ok() && seen == type;
}

}  // namespace sandpipe::wire
