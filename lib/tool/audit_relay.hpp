#pragma once

#include <sandpipe/audit.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace sandpipe::tool {

/// Hands a command's events to the sinks that want them. What a sink throws is counted and ignored. Copies
/// share the count.
class AuditRelay {
  public:
    using What = decltype(AuditEvent::what);

    /// Empty sinks are left out.
    AuditRelay(std::vector<AuditSink> sinks, std::shared_ptr<std::atomic<std::uint64_t>> failures);

    void tell(std::uint64_t command_id, What what) const;

  private:
    std::vector<AuditSink> sinks_;
    std::shared_ptr<std::atomic<std::uint64_t>> failures_;
};

}  // namespace sandpipe::tool
