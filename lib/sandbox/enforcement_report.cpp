#include <sandpipe/enforcement_report.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sandbox/given_up.hpp"
#include "sandbox/make_report.hpp"

namespace sandpipe {
namespace {

using wire::EnforcementFacts;
using wire::SessionPlan;

// landlock(7): the versions that know moving between directories, and truncation.
constexpr int kReferAbi = 2;
constexpr int kFullLandlockAbi = 3;

struct Finding {
    Enforced enforced = Enforced::full;
    std::string detail;
};

bool is_given_up(const EnforcementFacts& facts, std::string_view mechanism) {
    return std::any_of(facts.given_up.begin(), facts.given_up.end(),
                       [&](const wire::GivenUp& given) { return given.mechanism == mechanism; });
}

Finding always(const EnforcementFacts&, const SessionPlan&) { return {}; }

Finding namespaces(const EnforcementFacts& facts, const SessionPlan&) {
    if (facts.user_namespace) return {};
    return {Enforced::partial, "without a user namespace: user ids are those of the host"};
}

Finding filesystem(const EnforcementFacts& facts, const SessionPlan& plan) {
    if (!plan.filesystem_enforced) return {Enforced::none, "filesystem.disabled is true"};
    if (facts.landlock_abi <= 0)
        return {Enforced::partial, facts.denials ? "by mounts and the supervisor, without Landlock"
                                                 : "by mounts alone, without Landlock and supervisor"};
    if (is_given_up(facts, "names")) return {Enforced::partial, "by mounts and Landlock, without a supervisor"};
    return {};
}

Finding denied_reads(const EnforcementFacts&, const SessionPlan& plan) {
    if (!plan.filesystem_enforced) return {Enforced::none, "filesystem.disabled is true"};
    return {};
}

/// Without each of these a session with allowExecute does not start.
Finding execution(const EnforcementFacts&, const SessionPlan&) {
    return {Enforced::full, "Landlock for what is started, notification of what is mapped, writable mounts without a "
                            "listed program noexec, no memfd"};
}

Finding network(const EnforcementFacts& facts, const SessionPlan& plan) {
    if (!plan.own_network) return {Enforced::none, "network.disabled is true: the host's network"};
    if (!facts.network_namespace) return {Enforced::none, "no network namespace"};
    if (!plan.proxy_ports.empty())
        return {Enforced::full,
                "the allowed domains, through the host's proxies; else only the session's own loopback"};
    return {Enforced::full, "no network but the session's own loopback"};
}

Finding landlock(const EnforcementFacts& facts, const SessionPlan& plan) {
    if (facts.landlock_abi <= 0)
        return {Enforced::none, "this kernel has no Landlock, or it is not enabled (lsm=)"};
    if (!plan.filesystem_enforced) return {Enforced::none, "filesystem.disabled is true"};
    const std::string version = "ABI " + std::to_string(facts.landlock_abi);
    if (facts.landlock_abi >= kFullLandlockAbi) return {Enforced::full, version};
    if (facts.landlock_abi < kReferAbi)
        return {Enforced::partial, version + "; before ABI 2 (Linux 5.19) nothing can be moved or linked to another"
                                             " directory (EXDEV), and truncation is left to mounts and the supervisor"};
    return {Enforced::partial, version + "; before ABI 3 (Linux 6.2) truncation is left to mounts and the supervisor"};
}

Finding denials(const EnforcementFacts& facts, const SessionPlan&) {
    if (facts.listener_error == EBUSY)
        return {Enforced::partial,
                "this process runs below another seccomp listener, and the kernel allows no second one: refused calls"
                " fail, but are not listed, and UNIX sockets exist in pairs only"};
    if (!facts.denials)
        return {Enforced::partial,
                "no notification from seccomp here: refused calls fail, but are not listed, and UNIX sockets exist in"
                " pairs only"};
    if (!facts.addfd_send)
        return {Enforced::full,
                "signals may interrupt a judged call, and a new file may be left open then (Linux before"
                " 5.14)"};
    if (facts.wait_killable) return {};
    return {Enforced::full, "signals may interrupt a judged call (Linux before 5.19)"};
}

Finding limits(const EnforcementFacts&, const SessionPlan& plan) {
    const bool has_tmp_size = std::any_of(
        plan.mounts.begin(), plan.mounts.end(),
        [](const wire::MountOp& op) { return op.step == wire::MountStep::private_tmp && op.bytes > 0; });
    if (has_tmp_size) return {Enforced::partial, "the size of /tmp only"};
    return {Enforced::none, "no limits were asked for"};
}

struct Row {
    std::string_view name;
    Finding (*find)(const EnforcementFacts&, const SessionPlan&);
    bool (*applies)(const SessionPlan&) = [](const SessionPlan&) { return true; };
};

bool restricts_execution(const SessionPlan& plan) { return plan.filesystem_enforced && plan.rules.restrict_execute; }

constexpr std::array kRows{
    Row{"namespaces", namespaces},
    Row{"filesystem", filesystem},
    Row{"denied_reads", denied_reads},
    Row{"execution", execution, restricts_execution},  // with allowExecute only
    Row{"network", network},
    Row{"ipc", always},
    Row{"landlock", landlock},
    Row{"seccomp", always},
    Row{"capabilities", always},
    Row{"no_new_privs", always},
    Row{"processes", always},
    Row{"denials", denials},
    Row{"limits", limits},
};

/// What a weaker session gave up is never reported as enforced, and never left out.
void mark_given_up(EnforcementReport& report, const wire::GivenUp& given_up) {
    const auto found =
        std::find_if(report.mechanisms.begin(), report.mechanisms.end(),
                     [&](const Mechanism& mechanism) { return mechanism.name == given_up.mechanism; });
    Mechanism& mechanism = found != report.mechanisms.end() ? *found : report.mechanisms.emplace_back();
    mechanism = {given_up.mechanism, Enforced::none, describe(given_up), true};
}

}  // namespace

std::string_view to_string(Enforced enforced) noexcept {
    switch (enforced) {
        case Enforced::full:
            return "full";
        case Enforced::partial:
            return "partial";
        case Enforced::none:
            break;
    }
    return "none";
}

const Mechanism* EnforcementReport::find(std::string_view name) const noexcept {
    for (const Mechanism& mechanism : mechanisms)
        if (mechanism.name == name) return &mechanism;
    return nullptr;
}

nlohmann::json EnforcementReport::to_json() const {
    nlohmann::json report = nlohmann::json::object();
    for (const Mechanism& mechanism : mechanisms) {
        report[mechanism.name] = {{"enforced", to_string(mechanism.enforced)}, {"detail", mechanism.detail}};
        if (mechanism.given_up) report[mechanism.name]["given_up"] = true;
    }
    return report;
}

EnforcementReport make_report(const EnforcementFacts& facts, const SessionPlan& plan) {
    EnforcementReport report;
    for (const Row& row : kRows) {
        if (!row.applies(plan)) continue;
        Finding finding = row.find(facts, plan);
        report.mechanisms.push_back({std::string(row.name), finding.enforced, std::move(finding.detail), false});
    }
    for (const wire::GivenUp& given_up : facts.given_up) mark_given_up(report, given_up);
    return report;
}

}  // namespace sandpipe
