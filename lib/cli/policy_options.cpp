#include "policy_options.hpp"

#include <sandpipe/error.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "sys/descriptors.hpp"

namespace sandpipe::cli {
namespace {

constexpr std::size_t kMostBytes = 4 * 1024 * 1024;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
    throw Error(Errc::invalid_sandbox_config, "--settings " + file + ": " + why);
}

std::string read_file(const std::string& file) {
    unique_fd fd;
    int error = sys::open_file(file.c_str(), O_RDONLY, 0, fd);
    std::string text;
    while (error >= 0 && text.size() <= kMostBytes) {
        std::array<char, 16384> buffer;
        const ssize_t size = ::read(fd.get(), buffer.data(), buffer.size());
        if (size == 0) return text;
        if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
        if (size < 0 && errno != EINTR) error = -errno;
    }
    refuse(file, error < 0 ? std::system_category().message(-error) : "is larger than 4 MiB");
}

SandboxPolicy read_policy(const std::string& file) {
    const std::string text = read_file(file);
    try {
        return SandboxPolicy::from_json(nlohmann::json::parse(text));
    } catch (const nlohmann::json::parse_error& error) {
        refuse(file, error.what());
    } catch (const Error& error) {
        throw Error(error.errc(), "--settings " + file + ": " + error.text());
    }
}

template <typename Entry>
void append(std::vector<Entry>& list, const std::vector<std::string>& added) {
    list.insert(list.end(), added.begin(), added.end());
}

}  // namespace

SandboxPolicy make_policy(const PolicyOptions& options) {
    SandboxPolicy policy;
    if (options.settings) policy = read_policy(*options.settings);
    FilesystemPolicy& filesystem = policy.filesystem;
    append(filesystem.allow_write, options.allow_write);
    append(filesystem.deny_write, options.deny_write);
    append(filesystem.allow_read, options.allow_read);
    append(filesystem.deny_read, options.deny_read);
    NetworkPolicy& network = policy.network;
    append(network.allowed_domains, options.allow_domain);
    append(network.denied_domains, options.deny_domain);
    if (!options.settings && options.allow_write.empty()) filesystem.allow_write.emplace_back(".");
    return policy;
}

}  // namespace sandpipe::cli
