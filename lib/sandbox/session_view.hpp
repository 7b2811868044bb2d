#pragma once

#include <string>
#include <string_view>

#include "sandbox/policy/compile.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {

/// The host's file system as the commands of a session meet it: without what stands behind a mask, with the session's
/// own /tmp, /dev and /proc instead of the host's. Pure. Both arguments must outlive it.
class SessionView final : public PathFacts {
  public:
    SessionView(const CompiledPolicy& compiled, const PathFacts& host) : compiled_(compiled), host_(host) {}

    [[nodiscard]] PathFact look(const std::string& path) const override;
    [[nodiscard]] std::string link_target(const std::string& path) const override;
    [[nodiscard]] DirectoryListing list(const std::string& path) const override { return host_.list(path); }
    [[nodiscard]] std::string text(const std::string& path) const override { return host_.text(path); }
    [[nodiscard]] sys::ProgramFacts program(const std::string& path) const override { return host_.program(path); }
    [[nodiscard]] bool may_be_executed(const std::string& path) const override { return host_.may_be_executed(path); }
    [[nodiscard]] std::string mount_table() const override { return host_.mount_table(); }

    /// Why what the host has at `place` is out of sight, whatever the rules say; empty where it is not.
    [[nodiscard]] std::string_view hidden(const std::string& place) const;
    /// Whether a name can be looked up in this directory. A denied one has holes where the policy shows something in
    /// it.
    [[nodiscard]] bool may_search(const std::string& directory) const;
    /// Whether `place` is read-only although there are no rules for files.
    [[nodiscard]] bool is_setting(std::string_view place) const;

  private:
    [[nodiscard]] bool is_covered(wire::MountStep step, std::string_view place) const;
    [[nodiscard]] bool is_above_hole(std::string_view place) const;
    [[nodiscard]] bool is_masked(const std::string& path) const;
    [[nodiscard]] std::string_view hidden_by_own_place(const std::string& place) const;

    const CompiledPolicy& compiled_;
    const PathFacts& host_;
};

/// Where a command's walk along a path ends.
struct SessionWalk {
    ResolvedPath path;
    std::string blocked;  ///< the directory in which it may look up nothing, and came no further; empty: none
};

[[nodiscard]] SessionWalk walk_in_session(std::string_view absolute, const SessionView& view);

}  // namespace sandpipe
