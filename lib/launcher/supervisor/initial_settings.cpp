#include "launcher/supervisor/initial_settings.hpp"

#include <algorithm>
#include <string>

namespace sandpipe::launcher {
namespace {

using Check = bool (*)(std::string_view value);

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_scheme(char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; }
/// Also what is not ASCII: git takes it as it is.
bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f && c != '"' && c != '\\' && c != ';' && c != '#';
}

template <typename... Words>
bool is_one_of(std::string_view value, Words... words) {
    return ((value == words) || ...);
}

bool is_bool(std::string_view value) { return is_one_of(value, "true", "false"); }
bool is_version(std::string_view value) { return is_one_of(value, "0", "1"); }
bool is_word(std::string_view value) {
    return std::all_of(value.begin(), value.end(), [](char c) { return is_letter(c) || is_digit(c); });
}
bool is_log_choice(std::string_view value) { return is_bool(value) || value == "always"; }
bool is_tag_choice(std::string_view value) { return is_one_of(value, "--no-tags", "--tags"); }
bool is_name(std::string_view value) { return value[0] != '-'; }

/// "helper::address", and "scheme://..." with a scheme that git does not know itself, run a program of that
/// name (gitremote-helpers(7)).
bool is_url(std::string_view value) {
    const auto scheme_end = std::find_if_not(value.begin(), value.end(), is_scheme);
    const std::string_view scheme(value.begin(), scheme_end);
    const std::string_view rest = value.substr(scheme.size());
    if (!is_name(value) || rest.starts_with("::")) return false;
    return !rest.starts_with("://") ||
           is_one_of(scheme, "https", "http", "ssh", "git", "file", "git+ssh", "ssh+git", "ftp", "ftps");
}

/// Of a remote, or of the directory of one: what is none of this, git takes for a URL.
bool is_remote(std::string_view value) {
    return is_name(value) && std::all_of(value.begin(), value.end(), [](char c) {
               return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-' || c == '/';
           });
}

struct Setting {
    std::string_view section;
    bool is_named;  // [section "name"]
    std::string_view key;
    Check check;
};

constexpr Setting kSettings[] = {
    {"core", false, "repositoryformatversion", is_version},
    {"core", false, "filemode", is_bool},
    {"core", false, "bare", is_bool},
    {"core", false, "logallrefupdates", is_log_choice},
    {"core", false, "symlinks", is_bool},
    {"core", false, "ignorecase", is_bool},
    {"core", false, "precomposeunicode", is_bool},
    {"core", false, "sharedrepository", is_word},
    {"receive", false, "denynonfastforwards", is_bool},
    {"extensions", false, "objectformat", is_word},
    {"extensions", false, "refstorage", is_word},
    {"remote", true, "url", is_url},
    {"remote", true, "fetch", is_name},
    {"remote", true, "tagopt", is_tag_choice},
    {"branch", true, "remote", is_remote},
    {"branch", true, "merge", is_name},
    {"branch", true, "rebase", is_bool},
};

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

/// The section that the lines below it belong to.
struct Section {
    std::string name;
    bool is_named = false;
};

bool read_section(std::string_view line, Section& section) {
    if (line.size() < 2 || !line.ends_with(']')) return false;
    line = line.substr(1, line.size() - 2);
    const auto end = std::find_if_not(line.begin(), line.end(), is_letter);
    const std::string_view name(line.begin(), end);
    const std::string_view rest = line.substr(name.size());
    section = {lower(name), !rest.empty()};
    if (name.empty() || rest.empty()) return !name.empty();
    if (rest.size() < 4 || !rest.starts_with(" \"") || !rest.ends_with('"')) return false;
    const std::string_view quoted = rest.substr(2, rest.size() - 3);
    return std::all_of(quoted.begin(), quoted.end(), is_plain);
}

bool is_setting(std::string_view line, const Section& section) {
    constexpr std::string_view kEquals = " = ";
    const std::size_t equals = line.find(kEquals);
    if (equals == std::string_view::npos) return false;
    const std::string key = lower(line.substr(0, equals));
    const std::string_view value = line.substr(equals + kEquals.size());
    if (value.empty() || !std::all_of(value.begin(), value.end(), is_plain)) return false;
    return std::any_of(std::begin(kSettings), std::end(kSettings), [&](const Setting& row) {
        return row.section == section.name && row.is_named == section.is_named && row.key == key &&
               row.check(value);
    });
}

}  // namespace

bool are_initial_settings(std::string_view text) {
    Section section;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return false;
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const bool opens = line.starts_with('[');
        if (line.starts_with('\t')) line.remove_prefix(1);
        if (!(opens ? read_section(line, section) : is_setting(line, section))) return false;
    }
    return true;
}

}  // namespace sandpipe::launcher
