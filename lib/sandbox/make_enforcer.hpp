#pragma once

#include <sandpipe/srt_enforcer.hpp>

#include <chrono>

#include "sandbox/aside.hpp"
#include "sandbox/cell_session.hpp"

namespace sandpipe {

/// `srt_enforcer`, with proxies, and patience with file systems, that a test has set up.
awaitable<std::shared_ptr<SandboxEnforcer>> make_enforcer(Runtime& runtime, SrtEnforcerOptions options,
                                                          ProxySettings proxies,
                                                          std::chrono::nanoseconds start_timeout = kStartTimeout);

}  // namespace sandpipe
