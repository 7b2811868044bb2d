#include "sandbox/session_environment.hpp"

#include <charconv>
#include <string_view>

namespace sandpipe {
namespace {

constexpr std::string_view kCountName = "GIT_CONFIG_COUNT";

std::string_view value_of(const std::vector<std::string>& block, std::string_view name) {
    for (const std::string_view entry : block)
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
            return entry.substr(name.size() + 1);
    return {};
}

/// git-config(1): GIT_CONFIG_COUNT pairs of GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n. Ours follow the
/// caller's.
Environment git_settings(const std::vector<std::string>& block, const std::vector<std::string>& directories) {
    Environment settings = Environment::empty();
    if (directories.empty()) return settings;
    const std::string_view present = value_of(block, kCountName);
    unsigned count = 0;
    std::from_chars(present.data(), present.data() + present.size(), count);
    for (const std::string& directory : directories) {
        const std::string index = std::to_string(count++);
        settings.set("GIT_CONFIG_KEY_" + index, "safe.directory").set("GIT_CONFIG_VALUE_" + index, directory);
    }
    settings.set(std::string(kCountName), std::to_string(count));
    return settings;
}

}  // namespace

std::vector<std::string> session_environment(const SessionEnvironment& parts,
                                             const std::optional<Environment>& overlay) {
    std::vector<std::string> block =
        Environment::empty().set("TMPDIR", "/tmp").lay_over(parts.host, parts.snapshot);
    block = parts.network.lay_over(std::move(block), parts.snapshot);
    if (overlay) block = overlay->lay_over(std::move(block), parts.snapshot);
    const Environment git = git_settings(block, parts.git_safe_directories);
    return git.lay_over(std::move(block), parts.snapshot);
}

}  // namespace sandpipe
