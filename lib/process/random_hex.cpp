#include "random_hex.hpp"

#include <sandpipe/error.hpp>

#include <sys/random.h>

#include <array>
#include <cstdio>

namespace sandpipe::detail {

std::string random_hex(std::size_t bytes) {
    std::array<unsigned char, 32> random{};
    if (::getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes))
        throw Error(Errc::sandbox_failed, "getrandom gave no random numbers");
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", random[i]);
        text += digits;
    }
    return text;
}

}  // namespace sandpipe::detail
