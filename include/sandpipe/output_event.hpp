#pragma once

#include <sandpipe/denial.hpp>
#include <sandpipe/result.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

namespace sandpipe {

/// Where a chunk came from. `merged`: both streams through one pipe, in exact order, without a tag.
enum class StreamTag : std::uint8_t { out, err, merged };

/// Bytes as they arrived. A chunk may end inside a UTF-8 sequence; `TextRenderer` puts such together.
struct OutputChunk {
    std::uint64_t seq = 0;
    std::chrono::nanoseconds
        time{};  ///< since the start, when sandpipe read it (not when the consumer asked)
    StreamTag stream = StreamTag::out;
    std::string data;
};

/// Something the user should know that is no denial, such as protection that this machine lacks.
struct Warning {
    std::uint64_t seq = 0;
    std::chrono::nanoseconds time{};
    std::string text;
};

/// The last event of every stream.
struct Finished {
    std::uint64_t seq = 0;
    std::chrono::nanoseconds time{};
    CommandResult result;
};

/// What a `CommandStream` yields. Numbers start at 1 and have no gaps.
using OutputEvent = std::variant<OutputChunk, Denial, Warning, Finished>;

}  // namespace sandpipe
