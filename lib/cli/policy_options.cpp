#include "policy_options.hpp"

#include <sandpipe/error.hpp>
#include <sandpipe/srt_settings.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <set>
#include <system_error>
#include <utility>

#include "sys/descriptors.hpp"

namespace sandpipe::cli {
namespace {

constexpr std::size_t kMostBytes = 4 * 1024 * 1024;

/// A settings file, and the option that named it.
struct Source {
    std::string option;
    std::string file;
    [[nodiscard]] std::string words() const { return option + " " + file + ": "; }
};

std::string read_file(const Source& source) {
    unique_fd fd;
    int error = sys::open_file(source.file.c_str(), O_RDONLY, 0, fd);
    std::string text;
    while (error >= 0 && text.size() <= kMostBytes) {
        std::array<char, 16384> buffer;
        const ssize_t size = ::read(fd.get(), buffer.data(), buffer.size());
        if (size == 0) return text;
        if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
        if (size < 0 && errno != EINTR) error = -errno;
    }
    throw Error(
        Errc::invalid_sandbox_config,
        source.words() + (error < 0 ? std::system_category().message(-error) : "is larger than 4 MiB"));
}

/// Of two keys of one name the parser would take the last, and a rule would be lost.
nlohmann::json parse_without_doubles(const std::string& text) {
    using Event = nlohmann::json::parse_event_t;
    std::vector<std::set<std::string>> open;
    return nlohmann::json::parse(text, [&](int, Event event, const nlohmann::json& parsed) {
        if (event == Event::object_start) open.emplace_back();
        if (event == Event::object_end) open.pop_back();
        if (event == Event::key && !open.back().insert(parsed.get<std::string>()).second)
            throw Error(Errc::invalid_sandbox_config,
                        "\"" + parsed.get<std::string>() + "\" stands twice in one object; keep one");
        return true;
    });
}

/// What `read` makes of the file's JSON; its errors name the file.
template <typename Read>
auto read_settings(const Source& source, Read read) {
    const std::string text = read_file(source);
    try {
        return read(parse_without_doubles(text));
    } catch (const nlohmann::json::exception& error) {
        throw Error(Errc::invalid_sandbox_config, source.words() + error.what());
    } catch (const Error& error) {
        throw Error(error.errc(), source.words() + error.text());
    }
}

SandboxPolicy read_policy(const PolicyOptions& options, std::vector<std::string>* warnings) {
    if (options.settings)
        return read_settings(Source{"--settings", *options.settings}, &SandboxPolicy::from_json);
    if (!options.srt_settings) return {};
    SrtSettings settings = read_settings(Source{"--srt-settings", *options.srt_settings}, &from_srt_settings);
    if (warnings) warnings->insert(warnings->end(), settings.warnings.begin(), settings.warnings.end());
    return std::move(settings.policy);
}

template <typename Entry>
void append(std::vector<Entry>& list, const std::vector<std::string>& added) {
    list.insert(list.end(), added.begin(), added.end());
}

}  // namespace

SandboxPolicy make_policy(const PolicyOptions& options, std::vector<std::string>* warnings) {
    SandboxPolicy policy = read_policy(options, warnings);
    FilesystemPolicy& filesystem = policy.filesystem;
    append(filesystem.allow_write, options.allow_write);
    append(filesystem.deny_write, options.deny_write);
    append(filesystem.allow_read, options.allow_read);
    append(filesystem.deny_read, options.deny_read);
    append(filesystem.allow_execute, options.allow_exec);
    if (!options.allow_exec.empty()) filesystem.restrict_execute = true;
    NetworkPolicy& network = policy.network;
    append(network.allowed_domains, options.allow_domain);
    append(network.denied_domains, options.deny_domain);
    if (!options.settings && !options.srt_settings && options.allow_write.empty())
        filesystem.allow_write.emplace_back(".");
    return policy;
}

}  // namespace sandpipe::cli
