#pragma once

#include <sandpipe/result.hpp>
#include <sandpipe/tool/spooled_artifact.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

#include "bounded_text.hpp"

namespace sandpipe::tool {

/// What a summary says of the call besides how its command ended.
struct CallFacts {
    std::string call_id;
    std::uint64_t command_id = 0;
};

// Both give every field that `ToolResult::summary` documents. Pure.

/// `result` is redacted already.
[[nodiscard]] nlohmann::json command_summary(const CallFacts& call, const CommandResult& result,
                                             const LeftOut& left_out, const ArtifactFacts& artifact);

/// Of a call that was refused before a command was begun. `gate`: what it answered, "" if it was not asked.
[[nodiscard]] nlohmann::json refusal_summary(const CallFacts& call, std::string_view code,
                                             const std::string& reason, std::string_view gate);

}  // namespace sandpipe::tool
