#include "shell_input.hpp"

#include <sandpipe/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "sandbox/policy/nearest_key.hpp"
#include "sandbox/policy/quoted_value.hpp"

namespace sandpipe::tool {
namespace {

using nlohmann::json;

constexpr std::int64_t kDefaultTimeout = 300;
constexpr std::int64_t kLongestTimeout = 86400;
constexpr std::array<std::string_view, 3> kFields{"command", "cwd", "timeout_seconds"};
constexpr std::size_t kLongestValue = 100;

std::string shown(const json& value) { return quoted_value(value, kLongestValue); }

[[noreturn]] void refuse(const std::string& what, const std::string& accepted) {
    throw Error(Errc::invalid_sandbox_config, what + "; it must be " + accepted);
}

[[noreturn]] void refuse(const std::string& field, const json& value, const std::string& accepted) {
    refuse(field + " is " + shown(value), accepted);
}

// "cmd" for "command": its letters in their order, the first and the last among them.
bool abbreviates(std::string_view key, std::string_view field) {
    if (key.empty() || key.front() != field.front() || key.back() != field.back()) return false;
    for (const char letter : field)
        if (!key.empty() && key.front() == letter) key.remove_prefix(1);
    return key.empty();
}

// A field that is meant, if one clearly is.
std::string suggestion(const std::string& key) {
    constexpr std::size_t kFewEdits = 3;
    const auto longer = std::find_if(kFields.begin(), kFields.end(), [&](std::string_view field) {
        return key.size() >= 3 && (field.starts_with(key) || key.starts_with(field) || abbreviates(key, field));
    });
    const std::string_view field = longer != kFields.end() ? *longer : kFields[nearest_key(key, kFields)];
    if (longer == kFields.end() && edit_distance(key, field) > kFewEdits) return "";
    return "; did you mean " + std::string(field) + "?";
}

void check_keys(const json& input) {
    if (!input.is_object())
        refuse("the input", input,
               R"(an object such as {"command": "ls", "cwd": "", "timeout_seconds": 300})");
    for (const auto& entry : input.items()) {
        const std::string& key = entry.key();
        if (std::find(kFields.begin(), kFields.end(), key) != kFields.end()) continue;
        throw Error(Errc::invalid_sandbox_config, shown(key) + " is no field of " + kToolName +
                                                      "; there are command, cwd and timeout_seconds" +
                                                      suggestion(key));
    }
}

std::string command_of(const json& input) {
    const std::string accepted = "a string that is not empty and has no NUL: a line for the shell";
    const auto found = input.find("command");
    if (found == input.end()) refuse("command is missing", accepted);
    if (!found->is_string()) refuse("command", *found, accepted);
    const auto& command = found->get_ref<const std::string&>();
    if (command.empty() || command.find('\0') != std::string::npos) refuse("command", *found, accepted);
    return command;
}

std::string cwd_of(const json& input) {
    const auto found = input.find("cwd");
    if (found == input.end()) return {};
    if (!found->is_string()) refuse("cwd", *found, "a string: a path relative to the workspace");
    return found->get<std::string>();
}

// JSON Schema: 5.0 is an integer too.
bool is_timeout(const json& value) {
    if (!value.is_number()) return false;
    const auto seconds = value.get<double>();
    return seconds >= 1 && seconds <= static_cast<double>(kLongestTimeout) && std::floor(seconds) == seconds;
}

std::chrono::seconds timeout_of(const json& input) {
    const auto found = input.find("timeout_seconds");
    if (found == input.end()) return std::chrono::seconds{kDefaultTimeout};
    if (!is_timeout(*found)) refuse("timeout_seconds", *found, "a whole number from 1 to 86400");
    return std::chrono::seconds{found->get<std::int64_t>()};
}

}  // namespace

ToolRequest parse_shell_input(const json& input) {
    check_keys(input);
    ToolRequest request;
    request.tool = kToolName;
    request.command = command_of(input);
    request.cwd = cwd_of(input);
    request.timeout = timeout_of(input);
    return request;
}

json shell_input_schema() {
    return {
        {"type", "object"},
        {"properties",
         {{"command", {{"type", "string"}, {"minLength", 1}, {"description", "A line for the shell."}}},
          {"cwd",
           {{"type", "string"},
            {"default", ""},
            {"description",
             "Where it runs, relative to the workspace; a leading / is the workspace itself."}}},
          {"timeout_seconds",
           {{"type", "integer"},
            {"minimum", 1},
            {"maximum", kLongestTimeout},
            {"default", kDefaultTimeout},
            {"description", "The command and all that it started is ended then."}}}}},
        {"required", json::array({"command"})},
        {"additionalProperties", false},
    };
}

std::string shell_description() {
    return "Runs a line in a shell, in a sandbox: it can write in the workspace and the places that the "
           "policy "
           "names, and reach only the network that the policy allows. What is refused fails with the "
           "program's "
           "own error, and a line [sandbox NUMBER] denied: ... says what was refused and why. Output is "
           "stdout "
           "and stderr together; the middle of a long one is left out. Nothing that the command starts "
           "outlives it.";
}

}  // namespace sandpipe::tool
