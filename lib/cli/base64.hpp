#pragma once

#include <string>
#include <string_view>

namespace sandpipe::cli {

/// RFC 4648, section 4: with padding, in one line.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace sandpipe::cli
