#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace sandpipe {

/// Where relays come in: a listening SEQPACKET socket of this process that other processes of the same user can reach
/// and nothing in a sandbox can. It is bound in a private directory and at once unlinked from there: its only names
/// are links in this process's /proc/PID/fd, which a sandbox's own /proc does not have, and nothing is left on disk,
/// however this process ends. A process that is not dumpable (prctl(2), after a change of its user) has no such links
/// for others; then the directory stays, mode 0700, until this object goes.
class EntranceSocket {
  public:
    EntranceSocket() = default;
    EntranceSocket(const EntranceSocket&) = delete;
    EntranceSocket& operator=(const EntranceSocket&) = delete;
    ~EntranceSocket();

    /// Tries the directories in turn. 0, or -errno of the last one.
    [[nodiscard]] int open(const std::vector<std::string>& directories);
    /// From now on `address` leads here. 0 or -errno. Again: nothing.
    [[nodiscard]] int publish();
    /// The address leads nowhere any more.
    void unpublish() noexcept { published_.reset(); }
    [[nodiscard]] std::string address() const;
    /// To wait on and accept from; non-blocking. Once, after `open`.
    [[nodiscard]] unique_fd take_listener() noexcept { return std::move(listener_); }

  private:
    [[nodiscard]] int open_in(const std::string& directory);
    [[nodiscard]] int bind_to(const std::string& path);
    void remove_names() noexcept;

    unique_fd listener_;
    unique_fd inode_;      // O_PATH of the socket's own inode
    unique_fd published_;  // another one, whose number is the address
    std::string directory_;
    pid_t owner_ = -1;  // whose the names are: a forked child lets them be
};

}  // namespace sandpipe
