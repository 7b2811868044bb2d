#pragma once

#include <sandpipe/unique_fd.hpp>

#include <string>
#include <vector>

#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// A device node of the host's, or a directory of them.
struct Device {
    std::string name;  ///< relative to the session's /dev
    bool is_directory = false;
    unique_fd tree;
};

// A minimal /dev is made in two steps, because in between the host's may be hidden. Both return 0 or -errno.

/// Takes null, zero, full, random, urandom and tty as far as the host has them, and its devices in
/// `op.holes`.
[[nodiscard]] int take_devices(const wire::MountOp& op, std::vector<Device>& devices);

/// Mounts the session's /dev at `op.path`: these devices, and pseudo-terminals and shared memory of its own.
/// Nothing can be made in it but in shm.
[[nodiscard]] int put_private_dev(const wire::MountOp& op, const std::vector<Device>& devices);

}  // namespace sandpipe::launcher
