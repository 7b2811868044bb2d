#pragma once

#include <sandpipe/runtime.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "process/runtime_core.hpp"
#include "sandbox/network/domain_rules.hpp"
#include "sandbox/network/resolver.hpp"

namespace sandpipe {

/// How long a proxy waits, and for how many. Tests shorten them.
struct ProxyLimits {
    std::chrono::nanoseconds first_head = std::chrono::seconds{30};  ///< from the connection to its whole request
    std::chrono::nanoseconds next_head = std::chrono::seconds{120};  ///< from an answer to the whole next request
    std::chrono::nanoseconds resolve = std::chrono::seconds{30};
    std::chrono::nanoseconds connect = std::chrono::seconds{10};  ///< for the last address of a name
    /// For each address that has others behind it: those of a family that leads nowhere often come first.
    std::chrono::nanoseconds connect_next = std::chrono::seconds{2};
    /// How often a client that has ended its stream is looked for: it may be waiting for an answer, or be gone.
    std::chrono::nanoseconds orphan_check = std::chrono::seconds{10};
    std::chrono::nanoseconds linger = std::chrono::seconds{2};    ///< for the client to take a refusal
    /// Connections of a session that are served at once, fewer where descriptors are few (ConnectionShare); more wait
    /// in the kernel's queue. Each takes at most two descriptors and two buffers of 256 KiB, these only while bytes are
    /// under way.
    std::size_t connections = 512;
};

/// The commands that one connection may belong to.
using Suspects = std::vector<std::weak_ptr<detail::RuntimeMember>>;

/// What all connections of a session's proxies share. Immutable.
struct ProxyContext {
    DomainRules rules;
    std::shared_ptr<Resolver> resolver;
    ProxyLimits limits;
    /// The commands that run in the session now.
    std::function<Suspects()> commands;
    std::function<void(LogLevel, const std::string&)> log;
};

}  // namespace sandpipe
