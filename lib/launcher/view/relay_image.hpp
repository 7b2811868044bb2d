#pragma once

#include <sandpipe/unique_fd.hpp>

namespace sandpipe::launcher {

/// A read-only file system with a copy of this program in it (wire/proxy_ports.hpp says under which name), as a
/// detached mount: for commands that must reach the proxy by a program of their own. A bind of the image itself is
/// not possible, because a memfd is on no mount of ours (open_tree(2)). Needs /proc. Returns 0 or -errno.
[[nodiscard]] int make_relay_tree(unique_fd& tree);

}  // namespace sandpipe::launcher
