#include <sandpipe/error.hpp>
#include <sandpipe/policy.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy/check_supported.hpp"
#include "sandbox/policy/nearest_key.hpp"
#include "sandbox/policy/policy_schema.hpp"

namespace sandpipe {
namespace {

using nlohmann::json;

void expect_object(const json& value, const std::string& place) {
    if (!value.is_object()) wrong_type(value, place, "an object");
}

bool is_section(std::string_view name) {
    const auto sections = policy_sections();
    return std::find(sections.begin(), sections.end(), name) != sections.end();
}

/// Every key and section with its dotted name, those of `section` first: of equally near ones the neighbour
/// wins.
struct KnownKeys {
    explicit KnownKeys(std::string_view section) {
        add_keys([&](const PolicyKey& key) { return key.section == section; });
        neighbours = names.size();
        for (const std::string_view name : policy_sections()) add(name, std::string(name));
        if (section.empty()) neighbours = names.size();
        add_keys([&](const PolicyKey& key) { return key.section != section; });
    }
    template <typename Wanted>
    void add_keys(Wanted wanted) {
        for (const PolicyKey& key : policy_keys())
            if (wanted(key)) add(key.name, key.dotted());
    }
    void add(std::string_view name, std::string dotted_name) {
        names.push_back(name);
        dotted.push_back(std::move(dotted_name));
    }

    std::vector<std::string_view> names;
    std::vector<std::string> dotted;
    std::size_t neighbours = 0;  // how many of them stand where the unknown key stood
};

[[noreturn]] void unknown_key(std::string_view section, const std::string& name) {
    const KnownKeys known(section);
    const std::string place = section.empty() ? name : std::string(section) + "." + name;
    const std::size_t nearest = nearest_key(name, known.names);
    std::string text = place + " is not a known key; ";
    if (is_near(name, known.names[nearest])) text += "the nearest known key is " + known.dotted[nearest] + "; ";
    text += "accepted here:";
    for (std::size_t i = 0; i < known.neighbours; ++i) text += (i ? ", " : " ") + std::string(known.names[i]);
    throw Error(Errc::invalid_sandbox_config, text);
}

void read_key(std::string_view section, const std::string& name, const json& value, SandboxPolicy& policy) {
    const auto keys = policy_keys();
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const PolicyKey& key) {
        return key.section == section && key.name == name;
    });
    if (found == keys.end()) unknown_key(section, name);
    found->read(value, found->dotted(), policy);
}

void read_section(const std::string& section, const json& members, SandboxPolicy& policy) {
    expect_object(members, section);
    for (const auto& [name, value] : members.items()) read_key(section, name, value, policy);
}

}  // namespace

SandboxPolicy SandboxPolicy::from_json(const json& file) {
    expect_object(file, "the policy");
    SandboxPolicy policy;
    for (const auto& [name, value] : file.items()) {
        if (is_section(name)) {
            read_section(name, value, policy);
        } else {
            read_key("", name, value, policy);
        }
    }
    check_supported(policy);
    return policy;
}

json SandboxPolicy::to_json() const {
    json file = json::object();
    for (const std::string_view section : policy_sections()) file[std::string(section)] = json::object();
    for (const PolicyKey& key : policy_keys()) {
        json value = key.write(*this);
        if (value.is_null()) continue;
        json& object = key.section.empty() ? file : file[std::string(key.section)];
        object[std::string(key.name)] = std::move(value);
    }
    return file;
}

}  // namespace sandpipe
