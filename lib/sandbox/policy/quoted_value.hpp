#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>

namespace sandpipe {

/// A JSON value as an error quotes it: on one line, ASCII, at most `most` bytes of it. What is nested more than a few
/// levels deep is named by its kind, because it may be nested as deep as its author likes.
[[nodiscard]] std::string quoted_value(const nlohmann::json& value, std::size_t most);

}  // namespace sandpipe
