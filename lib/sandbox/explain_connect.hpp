#pragma once

#include <sandpipe/explain.hpp>

#include <string>

#include "sandbox/policy/compile.hpp"
#include "sandbox/session_view.hpp"

namespace sandpipe {

/// What a session's proxies would say to HOST:PORT, by name and port alone: no name is resolved, and an address that a
/// name leads to may be refused all the same. Pure. Throws `Error` E_INVALID_SANDBOX_CONFIG for what is no HOST:PORT.
[[nodiscard]] Explanation explain_host(const CompiledPolicy& compiled, const std::string& target);

/// The same for a UNIX socket of the host; those that commands make in the session they can reach anyway.
[[nodiscard]] Explanation explain_socket(const CompiledPolicy& compiled, const std::string& absolute,
                                         const SessionView& view);

}  // namespace sandpipe
