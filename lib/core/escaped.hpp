#pragma once

#include <string>
#include <string_view>

namespace sandpipe::detail {

/// `bytes` so that they cannot end a line, move the cursor or reorder what stands beside them on a screen: control
/// characters, those that change direction, backslashes and what is not UTF-8 become \xHH.
[[nodiscard]] std::string escaped(std::string_view bytes);

/// A text of ours that holds values of somebody else's, as one line of bounded length: escaped as above, but for
/// backslashes, and the middle left out of what is longer than 1200 bytes.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace sandpipe::detail
