#pragma once

#include <sys/types.h>

#include "launcher/kernel/failure.hpp"

namespace sandpipe::launcher {

/// Writes the id maps of a child in a new user namespace (user_namespaces(7)): for root the identity of all
/// ids, for an ordinary user the identity of its own.
[[nodiscard]] Outcome write_id_maps(pid_t child);

}  // namespace sandpipe::launcher
