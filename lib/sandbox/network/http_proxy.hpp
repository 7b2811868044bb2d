#pragma once

#include "sandbox/network/proxy_connection.hpp"

namespace sandpipe {

/// Serves one client of the HTTP proxy: requests one after the other, each judged by itself, until one of them
/// becomes a tunnel or the connection ends.
awaitable<void> serve_http(ProxyConnection& connection);

}  // namespace sandpipe
