#include "audit_trail.hpp"

#include <asio/post.hpp>

#include <utility>

#include "process/runtime_core.hpp"
#include "process/thrown_text.hpp"

namespace sandpipe::detail {

void AuditBook::tell(const AuditEvent& event) {
    try {
        insist(event);
    } catch (...) {
        ++failures_;
        const std::string text = "on_sandbox threw: " + thrown_text();
        log_(LogRecord{LogLevel::warning, event.command_id, text});
    }
}

void AuditBook::insist(const AuditEvent& event) const {
    if (sink_) sink_(event);
}

bool AuditBook::introduces(std::uint64_t session) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return introduced_.insert(session).second;
}

AuditTrail::AuditTrail(std::shared_ptr<AuditBook> book, const asio::any_io_executor& executor,
                       std::shared_ptr<AuditTrail> outer)
    : book_(std::move(book)),
      outer_(std::move(outer)),
      id_(outer_ ? outer_->id() : next_command_id()),
      strand_(asio::make_strand(executor)) {}

std::uint64_t AuditTrail::take_id() noexcept {
    const bool taken = id_taken_.exchange(true);
    if (taken) return next_command_id();
    return outer_ ? outer_->take_id() : id_;
}

AuditEvent AuditTrail::event(What what) const {
    return {id_, std::chrono::system_clock::now(), std::move(what)};
}

void AuditTrail::record(std::uint64_t command_id, What what) {
    if (std::holds_alternative<StartFailed>(what)) told_failed_start_ = true;
    AuditEvent told{command_id, std::chrono::system_clock::now(), std::move(what)};
    if (outer_) outer_->record(command_id, told.what);
    const auto where = strand();
    if (where) asio::post(*where, [book = book_, event = std::move(told)] { book->tell(event); });
}

std::optional<asio::strand<asio::any_io_executor>> AuditTrail::strand() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return strand_;
}

void AuditTrail::detach() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    strand_.reset();
}

}  // namespace sandpipe::detail
