#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace sandpipe::tool {

/// A file for reading and writing that has no name: O_TMPFILE in `directory`; where its file system has none
/// of those, a file of mode 0600 whose name is removed at once; where it takes no file at all, a memfd. 0 or
/// -errno.
[[nodiscard]] int open_spool_file(const std::string& directory, unique_fd& file);

/// Writes all of `text` at `offset`; `written` is what was written before an error. 0 or -errno.
[[nodiscard]] int write_at(const unique_fd& file, std::uint64_t offset, std::string_view text,
                           std::uint64_t& written);

/// Reads at most `most` bytes at `offset`, fewer at the end. 0 or -errno.
[[nodiscard]] int read_at(const unique_fd& file, std::uint64_t offset, std::uint64_t most, std::string& text);

/// How large a file this process may make (RLIMIT_FSIZE): a write beyond it would kill the process by
/// SIGXFSZ.
[[nodiscard]] std::uint64_t largest_file();

}  // namespace sandpipe::tool
