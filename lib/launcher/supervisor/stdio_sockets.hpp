#pragma once

#include <sandpipe/unique_fd.hpp>

#include <vector>

namespace sandpipe::launcher {

/// Whether one of these is a socket for IP, which is of the host's network: connect(2) leads even a connected one to
/// another peer there. (Others that can be led elsewhere the host does not hand out.)
[[nodiscard]] bool have_network_socket(const std::vector<unique_fd>& stdio);

}  // namespace sandpipe::launcher
