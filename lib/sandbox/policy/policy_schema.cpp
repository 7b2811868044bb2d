#include "sandbox/policy/policy_schema.hpp"

#include <sandpipe/error.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

#include "sandbox/policy/quoted_value.hpp"
#include "sandbox/policy/restricts_execution.hpp"

namespace sandpipe {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxQuoted = 60;

std::string at(const std::string& place, std::size_t index) {
    return place + "[" + std::to_string(index) + "]";
}

// ---- values of each type: read from JSON, written to JSON

void read_value(const json& value, const std::string& place, bool& out) {
    if (!value.is_boolean()) wrong_type(value, place, "true or false");
    out = value.get<bool>();
}

void read_value(const json& value, const std::string& place, std::uint64_t& out) {
    if (!value.is_number_unsigned()) wrong_type(value, place, "a whole number, 0 or more");
    out = value.get<std::uint64_t>();
}

void read_value(const json& value, const std::string& place, std::string& out) {
    if (!value.is_string()) wrong_type(value, place, "a string");
    out = value.get<std::string>();
}

void read_value(const json& value, const std::string& place, PathPattern& out) {
    constexpr std::string_view accepted = R"(a path, or {"path": "...", "literal": true})";
    out = {};
    if (value.is_string()) {
        out.path = value.get<std::string>();
        return;
    }
    if (!value.is_object() || !value.contains("path")) wrong_type(value, place, accepted);
    for (const auto& [name, member] : value.items()) {
        if (name == "path") {
            read_value(member, place + ".path", out.path);
        } else if (name == "literal") {
            read_value(member, place + ".literal", out.literal);
        } else {
            throw Error(Errc::invalid_sandbox_config,
                        place + "." + name + " is not a known key; accepted: " + std::string(accepted));
        }
    }
}

template <typename T>
void read_value(const json& value, const std::string& place, std::vector<T>& out) {
    constexpr bool of_paths = std::is_same_v<T, PathPattern>;
    if (!value.is_array()) wrong_type(value, place, of_paths ? "a list of paths" : "a list of strings");
    out.clear();
    for (std::size_t i = 0; i < value.size(); ++i) read_value(value[i], at(place, i), out.emplace_back());
}

void read_value(const json& value, const std::string& place, std::map<std::string, std::string>& out) {
    if (!value.is_object()) wrong_type(value, place, "an object of strings");
    out.clear();
    for (const auto& [name, member] : value.items()) read_value(member, place + "." + name, out[name]);
}

struct MissingName {
    MissingAllowWrite value;
    std::string_view name;
};
constexpr std::array kMissingNames{MissingName{MissingAllowWrite::error, "error"},
                                   MissingName{MissingAllowWrite::create, "create"},
                                   MissingName{MissingAllowWrite::skip, "skip"}};

void read_value(const json& value, const std::string& place, MissingAllowWrite& out) {
    for (const MissingName& row : kMissingNames) {
        if (value != row.name) continue;
        out = row.value;
        return;
    }
    wrong_type(value, place, R"("error", "create" or "skip")");
}

template <typename T>
json write_value(const T& value) {
    return value;
}

json write_value(const PathPattern& pattern) {
    if (!pattern.literal) return pattern.path;
    return {{"path", pattern.path}, {"literal", true}};
}

json write_value(const std::vector<PathPattern>& patterns) {
    json list = json::array();
    for (const PathPattern& pattern : patterns) list.push_back(write_value(pattern));
    return list;
}

json write_value(const MissingAllowWrite& value) {
    for (const MissingName& row : kMissingNames)
        if (row.value == value) return row.name;
    throw Error(Errc::invalid_sandbox_config, "filesystem.missingAllowWrite is no value of its enum");
}

// ---- rows, from pointers to members

template <auto Member>
auto& follow(auto& object) {
    return object.*Member;
}

template <auto Member, auto Next>
auto& follow(auto& object) {
    return object.*Member.*Next;
}

template <auto... Members>
constexpr PolicyKey key(std::string_view section, std::string_view name, bool enforced) {
    using Value = std::remove_cvref_t<decltype(follow<Members...>(std::declval<SandboxPolicy&>()))>;
    PolicyKey row{section, name, enforced};
    row.read = [](const json& value, const std::string& place, SandboxPolicy& policy) {
        read_value(value, place, follow<Members...>(policy));
    };
    row.write = [](const SandboxPolicy& policy) -> json { return write_value(follow<Members...>(policy)); };
    row.asked_for = [](const SandboxPolicy& policy) {
        const SandboxPolicy untouched;
        return !(follow<Members...>(policy) == follow<Members...>(untouched));
    };
    if constexpr (std::is_same_v<Value, std::vector<PathPattern>>)
        row.paths = [](const SandboxPolicy& policy) { return &follow<Members...>(policy); };
    return row;
}

template <auto Member>
constexpr PolicyKey filesystem(std::string_view name, bool enforced = true) {
    return key<&SandboxPolicy::filesystem, Member>("filesystem", name, enforced);
}

template <auto Member>
constexpr PolicyKey network(std::string_view name, bool enforced = true) {
    return key<&SandboxPolicy::network, Member>("network", name, enforced);
}

template <auto Member>
constexpr PolicyKey limits(std::string_view name, bool enforced = true) {
    return key<&SandboxPolicy::limits, Member>("limits", name, enforced);
}

/// An empty list means nothing and an absent one everything, so this key is more than its list.
constexpr PolicyKey allow_execute() {
    PolicyKey row = filesystem<&FilesystemPolicy::allow_execute>("allowExecute");
    row.read = [](const json& value, const std::string& place, SandboxPolicy& policy) {
        read_value(value, place, policy.filesystem.allow_execute);
        policy.filesystem.restrict_execute = true;
    };
    row.write = [](const SandboxPolicy& policy) -> json {
        if (!restricts_execution(policy.filesystem)) return nullptr;
        return write_value(policy.filesystem.allow_execute);
    };
    row.asked_for = [](const SandboxPolicy& policy) { return restricts_execution(policy.filesystem); };
    return row;
}

constexpr PolicyKey without_globs(PolicyKey row) {
    row.globs = false;
    return row;
}

constexpr bool kNotYet = false;
using Fs = FilesystemPolicy;
using Net = NetworkPolicy;
using Limits = LimitsPolicy;

constexpr std::array kKeys{
    filesystem<&Fs::deny_read>("denyRead"),
    filesystem<&Fs::allow_read>("allowRead"),
    filesystem<&Fs::allow_write>("allowWrite"),
    filesystem<&Fs::deny_write>("denyWrite"),
    allow_execute(),
    filesystem<&Fs::allow_git_config>("allowGitConfig"),
    filesystem<&Fs::allow_git_init>("allowGitInit"),
    filesystem<&Fs::allow_git_worktree>("allowGitWorktree"),
    without_globs(filesystem<&Fs::git_safe_directories>("gitSafeDirectories")),
    filesystem<&Fs::mandatory_deny_except>("mandatoryDenyExcept"),
    filesystem<&Fs::missing_allow_write>("missingAllowWrite"),
    filesystem<&Fs::devices>("devices"),
    filesystem<&Fs::disabled>("disabled"),
    network<&Net::allowed_domains>("allowedDomains"),
    network<&Net::denied_domains>("deniedDomains"),
    network<&Net::denied_domain_reasons>("deniedDomainReasons"),
    network<&Net::allow_unix_sockets>("allowUnixSockets"),
    network<&Net::disabled>("disabled"),
    limits<&Limits::memory_bytes>("memoryBytes", kNotYet),
    limits<&Limits::pids>("pids", kNotYet),
    limits<&Limits::cpu_seconds>("cpuSeconds", kNotYet),
    limits<&Limits::file_size_bytes>("fileSizeBytes", kNotYet),
    limits<&Limits::open_files>("openFiles", kNotYet),
    limits<&Limits::tmp_bytes>("tmpBytes"),
    limits<&Limits::best_effort>("bestEffort"),
    key<&SandboxPolicy::allow_nested_user_namespaces>("", "allowNestedUserNamespaces", kNotYet),
};

constexpr std::array<std::string_view, 3> kSections{"filesystem", "network", "limits"};

constexpr bool every_key_is_unique() {
    for (std::size_t i = 0; i < kKeys.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (kKeys[i].section == kKeys[j].section && kKeys[i].name == kKeys[j].name) return false;
    return true;
}
static_assert(every_key_is_unique());

}  // namespace

void wrong_type(const json& value, const std::string& place, std::string_view accepted) {
    throw Error(Errc::invalid_sandbox_config, place + " is " + quoted_value(value, kMaxQuoted) + " (" +
                                                  value.type_name() + "); accepted: " + std::string(accepted));
}

std::string PolicyKey::dotted() const {
    return section.empty() ? std::string(name) : std::string(section) + "." + std::string(name);
}

std::span<const PolicyKey> policy_keys() noexcept { return kKeys; }

std::span<const std::string_view> policy_sections() noexcept { return kSections; }

}  // namespace sandpipe
