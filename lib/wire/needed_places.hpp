#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "access_rules.hpp"

namespace sandpipe::wire {

/// Where programs, loaders and libraries stand: without them no command starts. Whoever may run them can read them, so
/// no secret is there.
inline constexpr std::array<std::string_view, 10> kProgramPlaces{
    "/bin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/sbin"};

/// Whether a link that leads to `place` would, if that were denied with it, take away programs as a whole.
[[nodiscard]] inline bool holds_programs(std::string_view place) {
    return std::any_of(kProgramPlaces.begin(), kProgramPlaces.end(),
                       [&](std::string_view programs) { return holds(place, programs); });
}

/// The same, or any of them.
[[nodiscard]] inline bool touches_programs(std::string_view place) {
    return holds_programs(place) ||
           std::any_of(kProgramPlaces.begin(), kProgramPlaces.end(),
                       [&](std::string_view programs) { return holds(programs, place); });
}

}  // namespace sandpipe::wire
