#pragma once

#include <string>
#include <string_view>

#include "wire/access_rules.hpp"

namespace sandpipe::launcher {

/// Whether the kernel gets from `start` (the place of a cwd, which an absolute path does not want) to `place` by
/// `path`, whatever other sessions do meanwhile: there are no links on the way, and no directory above the last
/// component has its name in a writable root, where others than this session's commands may exchange it. Pure.
[[nodiscard]] bool is_steady(const wire::AccessRules& rules, const std::string& start, std::string_view path,
                             const std::string& place);

}  // namespace sandpipe::launcher
