#pragma once

#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/types.h>

#include <string>

#include "launcher/kernel/notified_call.hpp"
#include "launcher/paths/supervised_caller.hpp"

namespace sandpipe::launcher {

/// The arguments of a notified call, copied out of the caller's registers and memory. Only these copies are
/// acted upon: the caller can change its own at any time.
struct Call {
    const NotifiedCall* row = nullptr;
    const char* operation = "";
    int directory = -1;
    std::string path;
    int second_directory = -1;
    std::string second_path;
    bool on_descriptor = false;  ///< no path: the act is on `directory` itself
    std::string text;            ///< of a symlink
    int flags = 0;               ///< AT_* or RENAME_*
    mode_t mode = 0;
    dev_t device = 0;
    off_t length = 0;  ///< of truncate
    std::uint64_t address = 0;  ///< of memory, and its size
    std::uint64_t size = 0;
    std::string attribute;  ///< the name of an extended one, and what it is set to
    std::string value;
    int attribute_flags = 0;  ///< XATTR_*
    open_how how{};
};

/// 0, or -errno: what the call fails with, as far as it can be known here.
[[nodiscard]] int read_call(const NotifiedCall& row, const seccomp_data& data, const Caller& caller,
                            Call& call);

}  // namespace sandpipe::launcher
