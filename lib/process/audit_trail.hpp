#pragma once

#include <sandpipe/audit.hpp>
#include <sandpipe/runtime.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/strand.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace sandpipe::detail {

/// The sink of one executor, and what it remembers across commands. Thread-safe.
class AuditBook {
  public:
    /// What the sink throws is told to `log`.
    AuditBook(AuditSink sink, std::function<void(const LogRecord&)> log) : sink_(std::move(sink)), log_(std::move(log)) {}

    /// Calls the sink, and counts if it throws.
    void tell(const AuditEvent& event);
    /// Calls the sink; what it throws passes.
    void insist(const AuditEvent& event) const;
    /// True once for each session: what is to be said of it as a whole is said then.
    [[nodiscard]] bool introduces(std::uint64_t session);
    [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

  private:
    const AuditSink sink_;
    const std::function<void(const LogRecord&)> log_;
    std::atomic<std::uint64_t> failures_{0};
    std::mutex mutex_;
    std::set<std::uint64_t> introduced_;
};

/// The audit events of one command, on their way to a sink: in the order of `record`, one at a time, on the executor of
/// the coroutine that awaits the command. It travels with the invocation. Thread-safe.
class AuditTrail {
  public:
    using What = decltype(AuditEvent::what);

    /// `outer` is told the same: that of an executor around this one, if there is any.
    AuditTrail(std::shared_ptr<AuditBook> book, const asio::any_io_executor& executor,
               std::shared_ptr<AuditTrail> outer);

    /// The command's number, known before it is started.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// The same for the first command that asks; for further ones made of the same invocation a new one.
    [[nodiscard]] std::uint64_t take_id() noexcept;
    [[nodiscard]] AuditEvent event(What what) const;
    [[nodiscard]] AuditBook& book() const noexcept { return *book_; }
    /// Never calls the sink inline.
    void record(What what) { record(id_, std::move(what)); }
    void record(std::uint64_t command_id, What what);
    [[nodiscard]] bool told_failed_start() const noexcept { return told_failed_start_; }
    /// Where events are told; everything that was recorded is told before what is posted there now. Empty when
    /// detached.
    [[nodiscard]] std::optional<asio::strand<asio::any_io_executor>> strand() const;
    /// Nobody awaits the command any more, and the executor may go: further events are told to the outer trail only.
    void detach() noexcept;

  private:
    const std::shared_ptr<AuditBook> book_;
    const std::shared_ptr<AuditTrail> outer_;
    const std::uint64_t id_;
    std::atomic<bool> id_taken_{false};
    std::atomic<bool> told_failed_start_{false};
    mutable std::mutex mutex_;
    std::optional<asio::strand<asio::any_io_executor>> strand_;
};

}  // namespace sandpipe::detail
