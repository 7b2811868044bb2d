#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace sandpipe::launcher {

/// A part of a process's memory, as /proc/PID/maps (proc(5)) has it.
struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool executable = false;
    dev_t device = 0;  ///< of the file; not always what stat(2) says of it
    ino_t inode = 0;
    std::string path;  ///< as the kernel writes it; "" or "[heap]" and the like for memory without a file

    /// Memory that has contents of its process only, shared memory (mmap(2), shmat(2)) included.
    [[nodiscard]] bool is_anonymous() const;
    [[nodiscard]] bool is_of_same_file(const Mapping& other) const noexcept {
        return device == other.device && inode == other.inode;
    }
};

/// In the order of their addresses, what overlaps [begin, end) in the memory of a thread, until `visit` says false. 0
/// or -errno.
[[nodiscard]] int visit_mappings(pid_t thread, std::uint64_t begin, std::uint64_t end,
                                 const std::function<bool(const Mapping&)>& visit);

/// What the kernel would say of a mapping of this file (any descriptor but a handle). 0 or -errno.
[[nodiscard]] int mapping_of(int file, Mapping& mapping);

}  // namespace sandpipe::launcher
