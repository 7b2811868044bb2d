#pragma once

#include <string_view>

namespace sandpipe::launcher {

/// Whether this is a config file of git (git-config(1)) as `git init` and `git clone` write it, in which
/// nothing makes git run a program: known settings with values of their kind, one a line, without comments,
/// quotes, escapes or continued lines. What is in doubt is none. Pure.
[[nodiscard]] bool are_initial_settings(std::string_view text);

}  // namespace sandpipe::launcher
