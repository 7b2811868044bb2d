#pragma once

#include <sandpipe/invocation.hpp>
#include <sandpipe/unique_fd.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "process/session.hpp"
#include "wire/messages.hpp"

namespace sandpipe::detail {

/// The files that an invocation names for its standard streams. `open` may take as long as a file system pleases, so
/// it is for a thread that nobody waits for; the rest is for whoever made the object.
class StdioFiles {
  public:
    /// Absent: it names none.
    [[nodiscard]] static std::shared_ptr<StdioFiles> of(const InvocationFields& fields);

    /// Until the first failure. The command's ends are blocking, but a FIFO never blocks: one whose other end nobody
    /// has open is a failure (ENXIO).
    void open();
    /// What is not open yet need not be: it would be made, or emptied, for a command that never starts.
    void call_off() noexcept { called_off_ = true; }
    /// What `open` is busy with, or was last.
    [[nodiscard]] wire::Failure hung_at(int error) const;

    // After `open`:

    [[nodiscard]] const std::optional<wire::Failure>& failure() const noexcept { return failure_; }
    /// `stream`: 0 to 2.
    [[nodiscard]] unique_fd take(std::size_t stream) noexcept { return std::move(files_[stream].fd); }

  private:
    struct File {
        std::string path;  // "": none is named
        int flags = 0;
        Stage stage = Stage::output;
        unique_fd fd;
    };

    StdioFiles() = default;
    void name(std::size_t stream, const Output& output);
    [[nodiscard]] int open(File& file) const;
    [[nodiscard]] int open_place(const File& file, unique_fd& fd) const;

    std::array<File, 3> files_;
    std::shared_ptr<const StreamPlaces> places_;  // of a session
    std::optional<wire::Failure> failure_;
    std::atomic<std::size_t> current_{0};
    std::atomic<bool> called_off_{false};
};

}  // namespace sandpipe::detail
