#include <sandpipe/tool/path_translator.hpp>

#include <sandpipe/end_status.hpp>
#include <sandpipe/error.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>
#include <vector>

#include "sys/descriptors.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe {
namespace {

constexpr std::array<std::string_view, 7> kReasons{"nul", "home",   "drive",  "device",
                                                   "unc", "escape", "symlink"};
static_assert(kReasons.size() == static_cast<std::size_t>(PathRefusal::symlink),
              "a name for each reason, in order");

// openat2(2): EAGAIN where a rename at the same time makes RESOLVE_BENEATH unsure.
constexpr int kTries = 16;

std::string_view explanation(PathRefusal reason) {
    switch (reason) {
        case PathRefusal::nul:
            return "it contains a NUL byte";
        case PathRefusal::home:
            return "~ is not expanded; write a path relative to the workspace";
        case PathRefusal::drive:
            return "there are no drive letters; write a path relative to the workspace";
        case PathRefusal::device:
            return "device paths are not accepted; write a path relative to the workspace";
        case PathRefusal::unc:
            return "network paths are not accepted; write a path relative to the workspace";
        case PathRefusal::escape:
            return "it leads out of the workspace";
        case PathRefusal::symlink:
            return "a symbolic link in it leads out of the workspace or cannot be followed";
    }
    return "";
}

// In quotes; a path must not forge a line of ours.
std::string quoted(std::string_view path) {
    return nlohmann::json(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

[[noreturn]] void refuse(std::string_view path, PathRefusal reason) {
    throw Error(Errc::sandbox_path_escape, quoted(path) + " is refused (" + std::string(to_string(reason)) +
                                               "): " + std::string(explanation(reason)));
}

bool is_slash(char c) { return c == '/' || c == '\\'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// What the spelling alone gives away, before any file system is asked.
std::optional<PathRefusal> refusal_by_form(std::string_view path) {
    if (path.find('\0') != std::string_view::npos) return PathRefusal::nul;
    if (path.substr(0, 1) == "~") return PathRefusal::home;
    if (path.size() >= 2 && is_letter(path[0]) && path[1] == ':') return PathRefusal::drive;
    if (path.size() < 2 || !is_slash(path[0]) || !is_slash(path[1])) return {};
    const bool device = path.size() >= 4 && (path[2] == '.' || path[2] == '?') && is_slash(path[3]);
    return device ? PathRefusal::device : PathRefusal::unc;
}

std::vector<std::string> components(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('/'));
        if (!part.empty() && part != ".") parts.emplace_back(part);
        path.remove_prefix(std::min(path.size(), part.size() + 1));
    }
    return parts;
}

bool climbs_out(const std::vector<std::string>& parts) {
    std::ptrdiff_t depth = 0;
    for (const std::string& part : parts) {
        depth += part == ".." ? -1 : 1;
        if (depth < 0) return true;
    }
    return false;
}

std::string joined(const std::vector<std::string>& parts, std::size_t count) {
    std::string path;
    for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + parts[i];
    return path.empty() ? "." : path;
}

int open_beneath(const unique_fd& root, const std::string& path, std::uint64_t flags, unique_fd& fd) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC | flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    long made = -EAGAIN;
    for (int i = 0; i < kTries && made == -EAGAIN; ++i) {
        made =
            sys::raw_syscall(SYS_openat2, root.get(), sys::word(path.c_str()), sys::word(&how), sizeof how);
    }
    if (made < 0) return static_cast<int>(made);
    fd.reset(static_cast<int>(made));
    return 0;
}

std::string name_of(const unique_fd& fd) {
    std::array<char, PATH_MAX> name;
    const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
    const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
    if (size <= 0 || static_cast<std::size_t>(size) == name.size()) {
        throw Error(Errc::sandbox_failed,
                    "/proc/self/fd cannot be read: " + errno_name(size < 0 ? errno : ENAMETOOLONG));
    }
    return {name.data(), static_cast<std::size_t>(size)};
}

bool is_missing(int error) { return error == -ENOENT || error == -ENOTDIR; }

[[noreturn]] void refuse_for_error(std::string_view path, int error) {
    // The spelling does not climb out, so only a link can have.
    if (error == -EXDEV || error == -ELOOP) refuse(path, PathRefusal::symlink);
    throw Error(Errc::sandbox_path_escape, quoted(path) + " cannot be checked: " + errno_name(-error));
}

// How many leading components exist; `fd` is the last of them. The first one that is missing must not be a
// link: what it points to would be the place.
std::size_t open_existing(const unique_fd& root, std::string_view path, const std::vector<std::string>& parts,
                          unique_fd& fd) {
    for (std::size_t count = parts.size();; --count) {
        const int error = open_beneath(root, joined(parts, count), 0, fd);
        if (error == 0) return count;
        if (!is_missing(error) || count == 0) refuse_for_error(path, error);
        unique_fd link;
        if (open_beneath(root, joined(parts, count), O_NOFOLLOW, link) == 0)
            refuse(path, PathRefusal::symlink);
    }
}

}  // namespace

std::string_view to_string(PathRefusal reason) noexcept {
    const auto index = static_cast<std::size_t>(reason) - 1;
    return index < kReasons.size() ? kReasons[index] : "unknown";
}

PathTranslator::PathTranslator(const std::string& workspace) {
    const int error = sys::open_file(workspace.c_str(), O_PATH | O_DIRECTORY, 0, root_);
    if (error < 0 || workspace.find('\0') != std::string::npos) {
        const auto why = std::system_category().message(error < 0 ? -error : EINVAL);
        throw Error(Errc::invalid_sandbox_config,
                    "the workspace \"" + workspace + "\" cannot be used: " + why + "; it must be a directory");
    }
    workspace_ = name_of(root_);
}

std::string PathTranslator::to_host(std::string_view path) const {
    if (const auto reason = refusal_by_form(path)) refuse(path, *reason);
    const std::vector<std::string> parts = components(path);
    if (climbs_out(parts)) refuse(path, PathRefusal::escape);
    unique_fd fd;
    const std::size_t existing = open_existing(root_, path, parts, fd);
    std::string host = name_of(fd);
    for (std::size_t i = existing; i < parts.size(); ++i) {
        // Nobody can say where the parent of a missing directory is.
        if (parts[i] == "..") refuse(path, PathRefusal::escape);
        host += (host.back() == '/' ? "" : "/") + parts[i];
    }
    return host;
}

}  // namespace sandpipe
