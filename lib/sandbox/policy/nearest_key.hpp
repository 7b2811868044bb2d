#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sandpipe {

/// How many letters must be added, removed, changed or swapped with their neighbour to turn one name into the
/// other. Case, '_' and '-' do not count: "deny_read" is "denyRead" in another dialect.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// The index of the entry of `known` that takes the fewest edits, the first of equals. `known` is not empty.
[[nodiscard]] std::size_t nearest_key(std::string_view name, std::span<const std::string_view> known);

/// Whether that many edits are few enough for a slip of the pen: at most half of the longer name's letters.
[[nodiscard]] bool is_near(std::string_view name, std::string_view known);

}  // namespace sandpipe
