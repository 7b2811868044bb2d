#include "audit_relay.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sandpipe::tool {

AuditRelay::AuditRelay(std::vector<AuditSink> sinks, std::shared_ptr<std::atomic<std::uint64_t>> failures)
    : sinks_(std::move(sinks)), failures_(std::move(failures)) {
    sinks_.erase(std::remove_if(sinks_.begin(), sinks_.end(), [](const AuditSink& sink) { return !sink; }),
                 sinks_.end());
}

void AuditRelay::tell(std::uint64_t command_id, What what) const {
    if (sinks_.empty()) return;
    AuditEvent event;
    event.command_id = command_id;
    event.time = std::chrono::system_clock::now();
    event.what = std::move(what);
    for (const AuditSink& sink : sinks_) {
        try {
            sink(event);
        } catch (...) {  // whatever it is: who listens has no say in what runs
            ++*failures_;
        }
    }
}

}  // namespace sandpipe::tool
