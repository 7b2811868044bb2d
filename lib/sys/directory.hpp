#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

namespace sandpipe::sys {

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
/// An open directory stream; null where it could not be opened.
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// Whether an entry of `parent` is a directory itself; `in_doubt` where that cannot be found out.
[[nodiscard]] inline bool is_directory(DIR* parent, const dirent& entry, bool in_doubt) noexcept {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat found {};
    if (::fstatat(::dirfd(parent), entry.d_name, &found, AT_SYMLINK_NOFOLLOW) < 0) return in_doubt;
    return S_ISDIR(found.st_mode);
}

}  // namespace sandpipe::sys
