#include "sandbox/narrow_policy.hpp"

#include <sandpipe/error.hpp>
#include <sandpipe/explain.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/explain_place.hpp"
#include "sandbox/explain_program.hpp"
#include "sandbox/network/domain_rules.hpp"
#include "sandbox/policy/path_facts.hpp"
#include "sandbox/policy/path_pattern.hpp"
#include "sandbox/policy/policy_entries.hpp"
#include "sandbox/policy/resolved_path.hpp"
#include "sandbox/policy/restricts_execution.hpp"
#include "sandbox/session_view.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {
namespace {

using Patterns = std::vector<PathPattern>;

[[noreturn]] void conflict(const std::string& entry, const std::string& why) {
    throw Error(Errc::sandbox_policy_conflict,
                "a narrower policy cannot have " + entry + ": " + why + "; leave it out, or make a session of its own");
}

std::string named(std::string_view key, const std::string& value) { return std::string(key) + " \"" + value + "\""; }

template <typename T>
bool contains(const std::vector<T>& values, const T& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

template <typename T>
void add_all(std::vector<T>& to, const std::vector<T>& from) {
    for (const T& value : from)
        if (!contains(to, value)) to.push_back(value);
}

/// 0 is no limit.
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// `asked` switches something off only where `wide` has it off.
void narrow_switch(std::string_view key, bool wide, bool asked) {
    if (asked && !wide) conflict(std::string(key) + " true", "the session has it false");
}

class FileNarrowing {
  public:
    FileNarrowing(const WideSession& session, const SandboxPolicy& asked)
        : session_(session), wide_(session.policy.filesystem), asked_(asked) {}

    void apply(FilesystemPolicy& result) const {
        narrow_switch("filesystem.disabled", wide_.disabled, result.disabled);
        if (wide_.disabled) return;
        check(ExplainedAct::write, "allowWrite", result.allow_write, wide_.allow_write);
        check_reads(result.allow_read);
        narrow_execution(result);
        keep_lifts(result.allow_read);
        add_all(result.deny_read, wide_.deny_read);
        add_all(result.deny_write, wide_.deny_write);
        for (const std::string& device : result.devices)
            if (!contains(wide_.devices, device)) conflict(named("devices", device), "the session has not that device");
        for (const std::string& name : result.mandatory_deny_except)
            if (!contains(wide_.mandatory_deny_except, name))
                conflict(named("mandatoryDenyExcept", name), "the session protects it");
        narrow_switch("allowGitConfig", wide_.allow_git_config, result.allow_git_config);
        narrow_switch("allowGitInit", wide_.allow_git_init, result.allow_git_init);
        narrow_switch("allowGitWorktree", wide_.allow_git_worktree, result.allow_git_worktree);
    }

  private:
    /// Rules are about what a path means on the host, whatever a command would make of it. Of a glob, the directory
    /// below which its matches are.
    [[nodiscard]] std::string place_of(const PathPattern& pattern) const {
        const std::string path = absolute_path(split_pattern(pattern).path, session_.compiled.plan.workspace,
                                               session_.home, "the narrower policy");
        return resolve_path(path, facts_).place;
    }

    [[nodiscard]] Explanation ask(const CompiledPolicy& compiled, ExplainedAct act, const std::string& place) const {
        const SessionView view(compiled, facts_);
        return act == ExplainedAct::exec ? explain_program(compiled, place, view)
                                         : explain_place(compiled, act, place, view);
    }

    /// What the session has in its own list stands there beside the same denies.
    void check(ExplainedAct act, std::string_view key, const Patterns& patterns, const Patterns& own) const {
        for (const PathPattern& pattern : patterns) {
            if (contains(own, pattern)) continue;
            const Explanation found = ask(session_.compiled, act, place_of(pattern));
            if (!found.allowed) conflict(named(key, pattern.path), "the session says " + found.rule);
            if (is_private(pattern))
                conflict(named(key, pattern.path), "the session's own /tmp hides what the host has there");
        }
    }

    /// What can be written there is not the host's.
    [[nodiscard]] bool is_private(const PathPattern& pattern) const {
        const Explanation writing = ask(session_.compiled, ExplainedAct::write, place_of(pattern));
        return writing.allowed && !session_.compiled.plan.rules.in_root(writing.place);
    }

    /// What a glob would lift cannot be told before it meets the files.
    void check_reads(const Patterns& patterns) const {
        check(ExplainedAct::read, "allowRead", patterns, wide_.allow_read);
        for (const PathPattern& pattern : patterns)
            if (!contains(wide_.allow_read, pattern) && !split_pattern(pattern).glob.empty() &&
                !wide_.deny_read.empty())
                conflict(named("allowRead", pattern.path), "a glob might lift what the session denies");
    }

    void narrow_execution(FilesystemPolicy& result) const {
        if (!restricts_execution(wide_)) return;
        if (!restricts_execution(result)) result.allow_execute = wide_.allow_execute;
        result.restrict_execute = true;
        check(ExplainedAct::exec, "allowExecute", result.allow_execute, wide_.allow_execute);
    }

    /// The session's own exceptions stay where the narrower policy says nothing against them.
    void keep_lifts(Patterns& allow_read) const {
        if (wide_.allow_read.empty()) return;
        const CompiledPolicy asked = compile(asked_, session_.compiled.plan.workspace, session_.home, facts_,
                                             session_.bin_shell);
        for (const PathPattern& pattern : wide_.allow_read) {
            const bool denied = !ask(asked, ExplainedAct::read, place_of(pattern)).allowed;
            if (!denied && !contains(allow_read, pattern)) allow_read.push_back(pattern);
        }
    }

    const WideSession& session_;
    const FilesystemPolicy& wide_;
    const SandboxPolicy& asked_;
    const HostPathFacts facts_;
};

void narrow_network(const NetworkPolicy& wide, NetworkPolicy& result) {
    narrow_switch("network.disabled", wide.disabled, result.disabled);
    for (const std::string& path : result.allow_unix_sockets)
        if (!contains(wide.allow_unix_sockets, path))
            conflict(named("allowUnixSockets", path), "it is not in the session's own list");
    if (wide.disabled) return;
    if (const auto wider = DomainRules(result).wider_than(DomainRules(wide)))
        conflict(named("allowedDomains", *wider), "the session's own allowedDomains do not cover it");
    if (result.allowed_domains.empty()) return;  // no network at all: nothing is left to be denied
    add_all(result.denied_domains, wide.denied_domains);
    result.denied_domain_reasons.insert(wide.denied_domain_reasons.begin(), wide.denied_domain_reasons.end());
}

void narrow_limits(const LimitsPolicy& wide, LimitsPolicy& result) {
    result.memory_bytes = smaller(wide.memory_bytes, result.memory_bytes);
    result.pids = smaller(wide.pids, result.pids);
    result.cpu_seconds = smaller(wide.cpu_seconds, result.cpu_seconds);
    result.file_size_bytes = smaller(wide.file_size_bytes, result.file_size_bytes);
    result.open_files = smaller(wide.open_files, result.open_files);
    result.tmp_bytes = smaller(wide.tmp_bytes, result.tmp_bytes);
    result.best_effort = result.best_effort && wide.best_effort;
}

}  // namespace

SandboxPolicy narrow_policy(const WideSession& session, const SandboxPolicy& asked) {
    const SandboxPolicy& wide = session.policy;
    SandboxPolicy result = asked;
    FileNarrowing(session, asked).apply(result.filesystem);
    narrow_network(wide.network, result.network);
    narrow_limits(wide.limits, result.limits);
    narrow_switch("allowNestedUserNamespaces", wide.allow_nested_user_namespaces, result.allow_nested_user_namespaces);
    return result;
}

}  // namespace sandpipe
