#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "launcher/paths/resolve.hpp"
#include "launcher/supervisor/supervised_call.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::launcher {

/// The repositories that the processes of one command are making where the policy lets them (allowGitInit).
/// Only the process that made a .git may give it what `git init` and `git clone` give it: hooks of which none is run
/// (*.sample), and settings of which none does harm (initial_settings.hpp).
class NewRepositories {
  public:
    explicit NewRepositories(const wire::AccessRules& rules) noexcept : rules_(rules) {}

    /// Whether the call on `spot` is a part of making a repository.
    [[nodiscard]] bool is_initial(const Call& call, const Caller& caller, const Spot& spot) const;
    /// The same for renaming, which brings settings only. They are in `settings` then.
    [[nodiscard]] bool brings_settings(const Call& call, const Caller& caller, const Spot& from, const Spot& to,
                                       std::string& settings) const;
    /// `caller` has made the directory `spot` just now.
    void note_directory(const Spot& spot, const Caller& caller);
    /// Of the command that is over.
    void forget() { made_.clear(); }

  private:
    struct Made {
        std::string place;
        unique_fd directory;  // O_PATH, so that no other gets its inode
        pid_t process = -1;
    };
    enum class Part { none, hooks, sample, settings };

    /// What `spot` is in a repository that the caller's process makes.
    [[nodiscard]] Part part_of(const Spot& spot, const Caller& caller) const;

    const wire::AccessRules& rules_;
    std::vector<Made> made_;
};

/// Puts a new file of that content, which no command ever had open for writing, at `to` in place of what stands
/// there, and takes `from` away. 0 or -errno.
[[nodiscard]] int put_settings(const std::string& settings, const Spot& from, const Spot& to);

}  // namespace sandpipe::launcher
