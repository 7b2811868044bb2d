#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/paths/judge.hpp"

/// Handles (O_PATH descriptors) of what paths lead to. Functions return 0 or -errno.
namespace sandpipe::launcher {

/// openat of a handle; `flags` beyond O_PATH and O_CLOEXEC.
[[nodiscard]] int open_handle(int directory, const char* path, int flags, unique_fd& object);
/// The same by openat2 with RESOLVE_* `restrictions`; a magic link on the way is -ELOOP, because it would be
/// followed for the supervisor.
[[nodiscard]] int open_plainly(int directory, const std::string& path, int flags, std::uint64_t restrictions,
                               unique_fd& object);

[[nodiscard]] int kind_of(const unique_fd& object, Kind& kind);
/// The resolved path; "" for what has none: pipes, sockets, memfds, removed directories, unlinked files.
[[nodiscard]] std::string place_of(int object);
/// It has one, of more bytes than a path can have: so nobody can be told it.
[[nodiscard]] bool has_too_long_name(int object);
/// Below the /proc of this namespace, where "self" may have been on the way.
[[nodiscard]] bool is_below_proc(std::string_view place);
/// Belongs to a /proc, where links need not be what their text says.
[[nodiscard]] bool is_procfs(int object);
/// Is on a mount of the kernel's own, to which no path leads although `place` looks like one: a POSIX message queue, or
/// memory.
[[nodiscard]] bool is_nameless(int object, const std::string& place);
/// What a symbolic link's text says.
[[nodiscard]] int read_link_text(int link, std::string& text);

/// A path cut before its last component; "/" is its own.
struct SplitPath {
    std::string directory;  ///< with its slashes; "" where there are none
    std::string name;
    bool slashed = false;  ///< slashes followed the name
};
[[nodiscard]] SplitPath split_path(std::string_view path);
/// Cuts the first component off `rest`; "" at the end.
[[nodiscard]] std::string take_component(std::string& rest);

}  // namespace sandpipe::launcher
