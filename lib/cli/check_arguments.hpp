#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sandpipe::cli {

/// Refuses what `app` (one of sandpipe's commands) does not take, before CLI11 does so in words of its own: unknown
/// options, naming the nearest known one or the command that has it (`all`: an app with every option); a flag with a
/// value, an option without one, one that stands twice; and words that are no option, unless `takes_words`. Throws
/// `Error` E_INVALID_SANDBOX_CONFIG. Pure.
void check_arguments(const CLI::App& app, const CLI::App& all, const std::vector<std::string>& args, bool takes_words);

}  // namespace sandpipe::cli
