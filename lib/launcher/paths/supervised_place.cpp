#include "launcher/paths/supervised_place.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "launcher/kernel/own_descriptor.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kHandle = O_PATH | O_CLOEXEC;
constexpr std::string_view kDeleted = " (deleted)";

Kind kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return Kind::file;
        case S_IFDIR:
            return Kind::directory;
        case S_IFLNK:
            return Kind::symlink;
        case S_IFSOCK:
            return Kind::socket;
        case S_IFIFO:
            return Kind::fifo;
        default:
            return Kind::device;
    }
}

/// A file of that full name exists: the name ends like this, and does not say that it was unlinked.
bool is_really_named(const std::string& place, const struct stat& object) {
    struct stat found {};
    return ::lstat(place.c_str(), &found) == 0 && found.st_dev == object.st_dev &&
           found.st_ino == object.st_ino;
}

}  // namespace

int open_handle(int directory, const char* path, int flags, unique_fd& object) {
    object.reset(::openat(directory, path, kHandle | flags));
    return object ? 0 : -errno;
}

int open_plainly(int directory, const std::string& path, int flags, std::uint64_t restrictions,
                 unique_fd& object) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(kHandle | flags);
    how.resolve = RESOLVE_NO_MAGICLINKS | restrictions;
    const long made =
        sys::raw_syscall(SYS_openat2, directory, sys::word(path.c_str()), sys::word(&how), sizeof how);
    object.reset(made < 0 ? -1 : static_cast<int>(made));
    return made < 0 ? static_cast<int>(made) : 0;
}

int kind_of(const unique_fd& object, Kind& kind) {
    struct stat found {};
    if (::fstat(object.get(), &found) < 0) return -errno;
    kind = kind_of(found.st_mode);
    return 0;
}

// proc(5): the kernel adds " (deleted)" to the name of what was unlinked; pipes and such have no path.
std::string place_of(int object) {
    char text[PATH_MAX];
    const ssize_t size = ::readlink(OwnDescriptor(object).path(), text, sizeof text);
    if (size <= 0 || text[0] != '/' || size == static_cast<ssize_t>(sizeof text)) return {};
    std::string place(text, static_cast<std::size_t>(size));
    if (!place.ends_with(kDeleted)) return place;
    struct stat found {};
    if (::fstat(object, &found) < 0) return {};
    if (is_really_named(place, found)) return place;
    // With a link left it still has a place: the one that it was opened by decides.
    return found.st_nlink == 0 ? std::string() : place.substr(0, place.size() - kDeleted.size());
}

bool has_too_long_name(int object) {
    char start = 0;
    return ::readlink(OwnDescriptor(object).path(), &start, 1) < 0 && errno == ENAMETOOLONG;
}

bool is_below_proc(std::string_view place) { return !wire::relative_to("/proc", place).empty(); }

bool is_procfs(int object) {
    struct statfs found {};
    return ::fstatfs(object, &found) == 0 && found.f_type == PROC_SUPER_MAGIC;
}

bool is_nameless(int object, const std::string& place) {
    // Magic numbers that linux/magic.h has not, or not yet.
    constexpr std::uint32_t kQueues = 0x19800202, kSecretMemory = 0x5345434d;
    struct statfs system {};
    struct stat status {};
    if (place.rfind('/') != 0 || ::fstatfs(object, &system) < 0 || ::fstat(object, &status) < 0) return false;
    const auto kind = static_cast<std::uint32_t>(system.f_type);
    return (kind == kQueues || kind == kSecretMemory) && !is_really_named(place, status);
}

int read_link_text(int link, std::string& text) {
    char bytes[PATH_MAX];
    const ssize_t size = ::readlinkat(link, "", bytes, sizeof bytes);
    if (size < 0) return -errno;
    text.assign(bytes, static_cast<std::size_t>(size));
    return 0;
}

SplitPath split_path(std::string_view path) {
    const std::size_t end = path.find_last_not_of('/');
    if (end == std::string_view::npos) return {"/", "/", false};
    const std::string_view trimmed = path.substr(0, end + 1);
    const std::size_t slash = trimmed.rfind('/');
    const std::size_t start = slash == std::string_view::npos ? 0 : slash + 1;
    return {std::string(trimmed.substr(0, start)), std::string(trimmed.substr(start)), end + 1 < path.size()};
}

std::string take_component(std::string& rest) {
    const std::size_t start = rest.find_first_not_of('/');
    if (start == std::string::npos) return {};
    const std::size_t end = std::min(rest.find('/', start), rest.size());
    std::string name = rest.substr(start, end - start);
    rest.erase(0, end);
    return name;
}

}  // namespace sandpipe::launcher
