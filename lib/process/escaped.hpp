#pragma once

#include <string>
#include <string_view>

namespace sandpipe::detail {

/// `bytes` so that they cannot end a line, move the cursor or reorder what stands beside them on a screen: control
/// characters, those that change direction, backslashes and what is not UTF-8 become \xHH.
[[nodiscard]] std::string escaped(std::string_view bytes);

}  // namespace sandpipe::detail
