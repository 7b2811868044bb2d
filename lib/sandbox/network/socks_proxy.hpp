#pragma once

#include "sandbox/network/proxy_connection.hpp"

namespace sandpipe {

/// Serves one client of the SOCKS5 proxy.
awaitable<void> serve_socks(ProxyConnection& connection);

}  // namespace sandpipe
