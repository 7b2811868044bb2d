#pragma once

#include <string_view>

namespace sandpipe::launcher {

/// The directory in which an absolute path, without trailing slashes, has its last name; "/" is its own.
[[nodiscard]] constexpr std::string_view directory_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace sandpipe::launcher
