#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sandpipe::launcher {

/// One line of /proc/PID/stat, as far as it matters here.
struct ProcessFacts {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    std::uint64_t start_time = 0;  ///< with the number it names a process for good
    bool dead = false;             ///< a zombie
};

/// What lives of one plain command.
struct CommandTree {
    std::vector<ProcessFacts> in_group;
    std::vector<ProcessFacts> escaped;  ///< left the group

    [[nodiscard]] std::size_t size() const noexcept { return in_group.size() + escaped.size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
};

/// To which command each descendant of the launcher belongs, by one look at all processes: to the one in whose group it
/// is; to the one below whose leader it is; or, when the processes between have ended, to the one whose mark it
/// carries. Pure. One look serves every command that asks, so that many stops at once cost no look each.
class ProcessTable {
  public:
    /// A process's mark, as of a command or not; 0 for one that has ended.
    using MarkOf = std::function<rlim_t(pid_t)>;

    /// `self`: the launcher. `leaders`: of running commands, unreaped, so that their numbers are taken. `mark_of` is
    /// asked for the others only.
    ProcessTable(const std::vector<ProcessFacts>& all, pid_t self, const std::unordered_set<pid_t>& leaders,
                 const MarkOf& mark_of);

    [[nodiscard]] CommandTree tree_of(pid_t leader, rlim_t mark) const;

  private:
    void put_below(const ProcessFacts& top, const std::unordered_set<pid_t>& leaders, const MarkOf& mark_of);

    std::unordered_multimap<pid_t, ProcessFacts> children_;  // by parent; emptied by the constructor
    std::unordered_multimap<pid_t, ProcessFacts> by_group_;
    std::unordered_multimap<pid_t, ProcessFacts> by_leader_;  // of those that left its group
    std::unordered_multimap<rlim_t, ProcessFacts> by_mark_;
};

}  // namespace sandpipe::launcher
