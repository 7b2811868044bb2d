#pragma once

#include <sandpipe/srt_enforcer.hpp>

#include "sandbox/cell_session.hpp"

namespace sandpipe {

/// `srt_enforcer`, with proxies that a test has set up.
awaitable<std::shared_ptr<SandboxEnforcer>> make_enforcer(Runtime& runtime, SrtEnforcerOptions options,
                                                          ProxySettings proxies);

}  // namespace sandpipe
