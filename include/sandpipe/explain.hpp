#pragma once

#include <sandpipe/policy.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sandpipe {

enum class ExplainedAct : std::uint8_t {
    read,
    write,  ///< contents or attributes, and making or removing it
    exec,
    connect,  ///< to HOST:PORT through the session's proxies, or to a UNIX socket of the host
};

/// "read", "write", "exec", "connect".
[[nodiscard]] std::string_view to_string(ExplainedAct act) noexcept;

/// What a session would say to one act.
struct Explanation {
    bool allowed = false;
    std::string rule;   ///< the rule that decides, or the default where none does; never empty
    std::string place;  ///< what the target leads to
};

/// Answers what a session under one policy would do, by the plan that the session would be made from: at each
/// directory and link on the way of a path, as a command would meet them, and at its end. It speaks for the policy as
/// it meets the file system at construction: permissions of the files, and whether they exist, come on top of that.
/// Changes nothing and starts nothing. One thread at a time.
class Explainer {
  public:
    /// `workspace` as in SrtEnforcerOptions; "~" is HOME, as for a Runtime. `bin_shell` may always be
    /// executed. Throws `Error` as `srt_enforcer` does for a wrong policy or workspace.
    Explainer(const SandboxPolicy& policy, const std::string& workspace,
              const std::string& bin_shell = "/bin/bash");
    Explainer(Explainer&&) noexcept;
    Explainer& operator=(Explainer&&) noexcept;
    ~Explainer();

    /// `target` is a path: absolute, "~/...", or relative to the workspace; no glob. For `exec` one without a slash
    /// is looked for in the PATH of this process, as by a command's start. For `connect` it is HOST:PORT, or a path
    /// if there is a slash in it; names are judged as they are and not resolved. Throws `Error`
    /// E_INVALID_SANDBOX_CONFIG for an empty one, one with NUL in it, and for what is no HOST:PORT.
    [[nodiscard]] Explanation explain(ExplainedAct act, const std::string& target) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// For one question.
[[nodiscard]] Explanation explain(const SandboxPolicy& policy, const std::string& workspace, ExplainedAct act,
                                  const std::string& target);

}  // namespace sandpipe
