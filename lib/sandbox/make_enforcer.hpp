#pragma once

#include <sandpipe/srt_enforcer.hpp>

#include <chrono>

#include "sandbox/cell_session.hpp"

namespace sandpipe {

inline constexpr std::chrono::seconds kStartTimeout{30};

/// `srt_enforcer`, with proxies, and patience with file systems, that a test has set up.
awaitable<std::shared_ptr<SandboxEnforcer>> make_enforcer(Runtime& runtime, SrtEnforcerOptions options,
                                                          ProxySettings proxies,
                                                          std::chrono::nanoseconds start_timeout = kStartTimeout);

}  // namespace sandpipe
