#pragma once

#include <sandpipe/unique_fd.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sandpipe::launcher {

/// The UNIX sockets with a path that a session's commands have made, known by device and inode: which of them may be
/// connected to must not depend on who can make a file of that name. Kept in a memfd that all inits of the session
/// share; every function wants the session's lock held. Functions return 0 or -errno.
class SocketRegistry {
  public:
    /// `file`: the session's memfd; it must stay open. -1: there is none, and nothing is found.
    SocketRegistry(int file, std::int64_t owner) noexcept : file_(file), owner_(owner) {}

    /// `socket` (O_PATH) was just made, and is known to be that very one (bound_inode.hpp). It stays open until it is
    /// forgotten: no other file gets its inode meanwhile. From time to time those that have no name any more are
    /// forgotten: nothing leads to them.
    [[nodiscard]] int add(unique_fd socket);
    [[nodiscard]] bool contains(int socket) const;
    [[nodiscard]] bool has_own() const noexcept { return !own_.empty(); }
    /// What the command made that this init has served. A socket ends with the process that made it.
    void forget_own();
    /// The same for an init that has died.
    static void forget(int file, std::int64_t owner);

  private:
    static constexpr std::size_t kFewSockets = 64;
    struct Own {
        unique_fd socket;
        std::size_t place = 0;  // in the file
    };

    [[nodiscard]] int find_place(std::size_t& place);
    void forget_nameless();

    int file_;
    std::int64_t owner_;
    std::vector<Own> own_;
    std::size_t look_at_ = kFewSockets;  // so many: then it is worth while to look for those without a name
};

}  // namespace sandpipe::launcher
