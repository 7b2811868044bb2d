#include "remove_tree.hpp"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat is no C++
#include <sys/stat.h>
#include <unistd.h>
#include <sandpipe/unique_fd.hpp>

#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/descriptors.hpp"
#include "sys/directory.hpp"

namespace sandpipe::tool {
namespace {

// Somebody who makes entries faster than they are removed must not keep us for ever.
constexpr std::uint64_t kMostDirectories = 10'000'000;

int failed() { return -errno; }

/// Opens a directory for reading, whatever its mode.
int open_directory(int parent, const std::string& name, unique_fd& directory) {
    unique_fd place(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!place) return failed();
    // By the descriptor: the name could be a link by now. fchmod takes no O_PATH descriptor.
    const std::string by_number = "/proc/self/fd/" + std::to_string(place.get());
    if (::chmod(by_number.c_str(), S_IRWXU) < 0 && errno != EPERM) return failed();
    directory.reset(::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory ? 0 : failed();
}

int names_in(const unique_fd& directory, std::vector<std::string>& names) {
    unique_fd own;
    if (const int error = sys::duplicate(directory.get(), own); error < 0) return error;
    const sys::Directory stream(::fdopendir(own.get()));
    if (!stream) return failed();
    static_cast<void>(own.release());
    ::rewinddir(stream.get());
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    return 0;
}

/// Directories that are full are moved to the top one by one and emptied there, so that the depth does not
/// matter.
class Removal {
  public:
    explicit Removal(unique_fd top) : top_(std::move(top)) {}

    int run() {
        if (const int error = empty(top_, true); error < 0) return error;
        while (!full_.empty()) {
            const std::string name = std::move(full_.back());
            full_.pop_back();
            if (++seen_ > kMostDirectories) return -EBUSY;
            if (const int error = remove_directory(name); error < 0) return error;
        }
        return 0;
    }

  private:
    int remove_directory(const std::string& name) {
        {
            unique_fd directory;
            const int error = open_directory(top_.get(), name, directory);
            if (error == -ENOENT) return 0;
            if (error < 0) return error;
            if (const int left = empty(directory, false); left < 0) return left;
        }
        return ::unlinkat(top_.get(), name.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT ? failed() : 0;
    }

    int empty(const unique_fd& directory, bool is_top) {
        std::vector<std::string> names;
        if (const int error = names_in(directory, names); error < 0) return error;
        for (const std::string& name : names)
            if (const int error = take_away(directory, name, is_top); error < 0) return error;
        return 0;
    }

    int take_away(const unique_fd& directory, const std::string& name, bool is_top) {
        if (::unlinkat(directory.get(), name.c_str(), 0) == 0 || errno == ENOENT) return 0;
        if (errno != EISDIR && errno != EPERM) return failed();
        if (::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
        if (errno != ENOTEMPTY && errno != EEXIST) return failed();
        if (is_top) {
            full_.push_back(name);
            return 0;
        }
        return move_to_top(directory, name);
    }

    int move_to_top(const unique_fd& directory, const std::string& name) {
        // rename(2): a directory that changes its parent must itself be writable.
        unique_fd opened;
        if (const int error = open_directory(directory.get(), name, opened); error < 0)
            return error == -ENOENT ? 0 : error;
        std::string there;
        do {
            there = ".removing-" + std::to_string(++moved_);
        } while (::faccessat(top_.get(), there.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0);
        if (::renameat(directory.get(), name.c_str(), top_.get(), there.c_str()) < 0)
            return errno == ENOENT ? 0 : failed();
        full_.push_back(std::move(there));
        return 0;
    }

    const unique_fd top_;
    std::vector<std::string> full_;
    std::uint64_t moved_ = 0;
    std::uint64_t seen_ = 0;
};

}  // namespace

int remove_tree(int parent, const std::string& name) {
    unique_fd top;
    const int error = open_directory(parent, name, top);
    if (error == -ENOENT) return 0;
    // A file or a link that has taken its place.
    if (error == -ENOTDIR || error == -ELOOP)
        return ::unlinkat(parent, name.c_str(), 0) < 0 && errno != ENOENT ? failed() : 0;
    if (error < 0) return error;
    if (const int left = Removal(std::move(top)).run(); left < 0) return left;
    return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT ? failed() : 0;
}

}  // namespace sandpipe::tool
