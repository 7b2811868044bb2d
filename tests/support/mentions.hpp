#pragma once

#include <string>

namespace sandpipe {

/// `part` stands in `text`.
inline bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace sandpipe
