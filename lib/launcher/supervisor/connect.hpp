#pragma once

namespace sandpipe::launcher {

/// `sandpipe-launcher connect HOST PORT`, run by commands inside a session (ssh's ProxyCommand): asks the session's
/// HTTP proxy for a tunnel and relays stdin and stdout through it, each direction to its own end. Returns an exit
/// status; a refusal of the proxy is printed to stderr with its reason.
[[nodiscard]] int run_connect(const char* host, const char* port);

}  // namespace sandpipe::launcher
