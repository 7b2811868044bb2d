#include "sandbox/policy/path_facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sandpipe/error.hpp>
#include <sandpipe/unique_fd.hpp>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <system_error>

#include "sys/directory.hpp"
#include "sys/open_without_links.hpp"

namespace sandpipe {
namespace {

constexpr std::size_t kLongestSearched = PATH_MAX - 1 - (NAME_MAX + 1);

constexpr const char* kMountTable = "/proc/self/mountinfo";

[[noreturn]] void refuse_mount_table(int error) {
    const bool shortage = error == EMFILE || error == ENFILE;
    throw Error(shortage ? Errc::sandbox_failed : Errc::sandbox_unsupported_env,
                std::string(kMountTable) + " cannot be read (" + std::generic_category().message(error) +
                    "), so other paths to what the policy denies cannot be found; " +
                    (shortage ? "see ulimit -n" : "mount /proc there"));
}

PathKind kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return PathKind::file;
        case S_IFDIR:
            return PathKind::directory;
        case S_IFLNK:
            return PathKind::symlink;
        case S_IFCHR:
        case S_IFBLK:
            return PathKind::device;
        default:
            return PathKind::other;
    }
}

/// The kind that the directory itself tells, which saves a call for each entry; missing where it does not
/// tell.
PathKind kind_of_entry(unsigned char type) {
    return type == DT_UNKNOWN ? PathKind::missing : kind_of(static_cast<mode_t>(DTTOIF(type)));
}

/// ENOTDIR where a link has come in its place, or on the way: it would lead a search to anywhere.
sys::Directory open_directory(const std::string& path) {
    unique_fd fd;
    if (const int error = sys::open_without_links(path.c_str(), O_RDONLY | O_DIRECTORY, 0, fd); error < 0) {
        errno = error == -ELOOP ? ENOTDIR : -error;
        return nullptr;
    }
    sys::Directory directory(::fdopendir(fd.get()));
    if (directory) static_cast<void>(fd.release());
    return directory;
}

}  // namespace

PathFact HostPathFacts::look(const std::string& path) const {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0)
        return {kind_of(status.st_mode), 0, status.st_nlink, status.st_dev, status.st_ino};
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return {PathKind::unreachable, errno, 1, 0, 0};
}

std::string HostPathFacts::link_target(const std::string& path) const {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string{};
}

std::string HostPathFacts::text(const std::string& path) const {
    const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) < 0 || !S_ISREG(status.st_mode)) return {};
    std::array<char, 4096> bytes{};
    const ssize_t size = ::pread(file.get(), bytes.data(), bytes.size(), 0);
    return size > 0 ? std::string(bytes.data(), static_cast<std::size_t>(size)) : std::string{};
}

sys::ProgramFacts HostPathFacts::program(const std::string& path) const {
    // A FIFO has to be no obstacle.
    const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    return file ? sys::read_program_facts(file.get()) : sys::ProgramFacts{};
}

bool HostPathFacts::may_be_executed(const std::string& path) const {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

std::string HostPathFacts::mount_table() const {
    const unique_fd file(::open(kMountTable, O_RDONLY | O_CLOEXEC));
    if (!file) refuse_mount_table(errno);
    std::string table;
    std::array<char, 16 * 1024> bytes{};
    for (ssize_t size; (size = ::read(file.get(), bytes.data(), bytes.size())) != 0;) {
        if (size > 0) table.append(bytes.data(), static_cast<std::size_t>(size));
        if (size < 0 && errno != EINTR) refuse_mount_table(errno);
    }
    return table;
}

DirectoryListing HostPathFacts::list(const std::string& path) const {
    DirectoryListing listing;
    const sys::Directory directory = open_directory(path);
    if (!directory) return {{}, errno};
    errno = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        PathKind kind = kind_of_entry(entry->d_type);
        if (kind == PathKind::missing) kind = look(path + "/" + std::string(name)).kind;
        listing.entries.push_back({std::string(name), kind});
        errno = 0;
    }
    listing.error = errno;
    // Reading names needs another right than looking at what has them.
    struct stat status {};
    if (::fstatat(::dirfd(directory.get()), ".", &status, 0) < 0) listing.error = errno;
    return listing;
}

DirectoryListing list_surely(const PathFacts& facts, const std::string& directory) {
    if (directory.size() > kLongestSearched) return {{}, ENAMETOOLONG};
    DirectoryListing listing = facts.list(directory);
    if (listing.error == ENOENT || listing.error == ENOTDIR) return {};
    return listing;
}

}  // namespace sandpipe
