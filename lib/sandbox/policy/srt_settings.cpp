#include "sandbox/policy/srt_settings.hpp"

#include <sandpipe/error.hpp>
#include <sandpipe/srt_settings.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/escaped.hpp"
#include "sandbox/policy/check_supported.hpp"
#include "sandbox/policy/nearest_key.hpp"
#include "sandbox/policy/path_pattern.hpp"
#include "sandbox/policy/policy_schema.hpp"

namespace sandpipe {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kSections{"filesystem", "network", "git"};

std::string dotted(std::string_view section, std::string_view name) {
    return section.empty() ? std::string(name) : std::string(section) + "." + std::string(name);
}

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

[[noreturn]] void unknown_key(std::string_view section, const std::string& name) {
    std::vector<std::string_view> names;
    for (const SrtKey& key : kSrtKeys) names.push_back(key.name);
    for (const std::string_view other : kSections) names.push_back(other);
    const std::string_view nearest = names[nearest_key(name, names)];
    std::string text = dotted(section, name) + " is not a known key; ";
    if (is_near(name, nearest)) text += "the nearest known key is " + std::string(nearest) + "; ";
    text += "accepted here:";
    for (const SrtKey& key : kSrtKeys)
        if (key.section == section) text += " " + std::string(key.name);
    if (section.empty())
        for (const std::string_view other : kSections) text += " " + std::string(other);
    refuse(text);
}

bool is_section(std::string_view name) {
    return std::find(kSections.begin(), kSections.end(), name) != kSections.end();
}

/// Off: false, null, or nothing in it.
bool asks_for_nothing(const json& value) {
    return value.is_null() || value == false || ((value.is_array() || value.is_object()) && value.empty());
}

class SrtFile {
  public:
    SrtSettings read(const json& file) {
        if (!file.is_object()) wrong_type(file, "the settings", "an object");
        read_members("", file);
        FilesystemPolicy& filesystem = settings_.policy.filesystem;
        if (filesystem.disabled && !credential_files_.empty())
            refuse("filesystem.disabled is true, so nothing would protect the files of credentials.files");
        // Their order in the file must not matter.
        filesystem.deny_read.insert(filesystem.deny_read.end(), credential_files_.begin(),
                                    credential_files_.end());
        filesystem.missing_allow_write = MissingAllowWrite::skip;
        check_supported(settings_.policy);
        return std::move(settings_);
    }

  private:
    void read_members(std::string_view section, const json& members) {
        for (const auto& [name, value] : members.items()) {
            if (section.empty() && is_section(name)) {
                if (!value.is_object()) wrong_type(value, name, "an object");
                read_members(name, value);
            } else {
                read_key(section, name, value);
            }
        }
    }

    void read_key(std::string_view section, const std::string& name, const json& value) {
        const auto found = std::find_if(kSrtKeys.begin(), kSrtKeys.end(), [&](const SrtKey& key) {
            return key.section == section && key.name == name;
        });
        if (found == kSrtKeys.end()) unknown_key(section, name);
        const std::string place = dotted(section, name);
        switch (found->treatment) {
            case SrtTreatment::taken:
                return take(*found, value);
            case SrtTreatment::credentials:
                return take_credentials(value);
            case SrtTreatment::safe_directories:
                return take_safe_directories(value);
            case SrtTreatment::needless:
                return;
            case SrtTreatment::not_on_linux:
                return warn(place + " means nothing on Linux and is ignored");
            case SrtTreatment::not_here:
                return warn(place + " means nothing to sandpipe and is ignored");
            case SrtTreatment::weaker:
                if (asks_for_nothing(value)) return;
                return warn(place + " is not taken from settings: ask for it by --weaker-nested, or by"
                                    " SrtEnforcerOptions::enable_weaker_nested_sandbox");
            case SrtTreatment::restricts:
                if (!asks_for_nothing(value))
                    refuse(place + " is not enforced by this version; leave it out");
        }
    }

    /// By the row of our own schema.
    void take(const SrtKey& key, const json& value) {
        for (const PolicyKey& own : policy_keys())
            if (own.section == key.section && own.name == key.name)
                return own.read(value, own.dotted(), settings_.policy);
        refuse(dotted(key.section, key.name) + " is not enforced by this version");
    }

    void take_credentials(const json& credentials) {
        if (!credentials.is_object()) wrong_type(credentials, "credentials", "an object");
        for (const auto& [name, value] : credentials.items()) {
            if (name == "files")
                take_files(value);
            else if (name == "envVars")
                warn("credentials.envVars: commands get no variable but PATH and what is asked for by name");
            else
                warn("credentials." + name + " means nothing to sandpipe and is ignored: nothing is masked");
        }
    }

    void take_files(const json& files) {
        if (!files.is_array()) wrong_type(files, "credentials.files", "a list");
        for (std::size_t i = 0; i < files.size(); ++i) {
            const std::string place = "credentials.files[" + std::to_string(i) + "]";
            if (!files[i].is_object() || !files[i].contains("path") || !files[i]["path"].is_string())
                wrong_type(files[i], place, R"({"path": "...", "mode": "deny" or "mask"})");
            credential_files_.emplace_back(files[i]["path"].get<std::string>());
            const auto mode = files[i].find("mode");
            if (mode == files[i].end()) continue;
            if (!mode->is_string()) wrong_type(*mode, place + ".mode", R"("deny" or "mask")");
            if (*mode != "deny")
                warn(place + ": nothing is masked; the file cannot be read at all");
        }
    }

    void take_safe_directories(const json& directories) {
        SandboxPolicy read;
        for (const PolicyKey& key : policy_keys())
            if (key.name == "gitSafeDirectories") key.read(directories, "git.safeDirectories", read);
        auto& list = settings_.policy.filesystem.git_safe_directories;
        const auto& more = read.filesystem.git_safe_directories;
        // Named as the file has it; check_supported() would speak of the list that it becomes.
        for (std::size_t i = 0; i < more.size(); ++i)
            if (!split_pattern(more[i]).glob.empty())
                refuse("git.safeDirectories[" + std::to_string(i) + "] is \"" + more[i].path +
                       "\"; accepted: a path without a glob");
        list.insert(list.end(), more.begin(), more.end());
    }

    void warn(const std::string& text) { settings_.warnings.push_back(detail::one_line(text)); }

    SrtSettings settings_;
    std::vector<PathPattern> credential_files_;
};

}  // namespace

SrtSettings from_srt_settings(const json& file) { return SrtFile().read(file); }

}  // namespace sandpipe
