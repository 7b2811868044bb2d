#include "shell_input.hpp"

#include <sandpipe/error.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace sandpipe::tool {
namespace {

using nlohmann::json;

constexpr std::int64_t kDefaultTimeout = 300;
constexpr std::int64_t kLongestTimeout = 86400;

[[noreturn]] void refuse(const std::string& field, const std::string& accepted) {
    throw Error(Errc::invalid_sandbox_config, field + " must be " + accepted);
}

void check_keys(const json& input) {
    if (!input.is_object()) refuse("the input", "an object with command, cwd and timeout_seconds");
    for (const auto& entry : input.items()) {
        const std::string& key = entry.key();
        if (key == "command" || key == "cwd" || key == "timeout_seconds") continue;
        throw Error(Errc::invalid_sandbox_config, "\"" + key + "\" is no field of " + kToolName +
                                                      "; there are command, cwd and timeout_seconds");
    }
}

std::string command_of(const json& input) {
    const auto found = input.find("command");
    if (found == input.end() || !found->is_string()) refuse("command", "a string: a line for the shell");
    const auto& command = found->get_ref<const std::string&>();
    if (command.empty()) refuse("command", "a string that is not empty");
    if (command.find('\0') != std::string::npos) refuse("command", "a string without NUL characters");
    return command;
}

std::string cwd_of(const json& input) {
    const auto found = input.find("cwd");
    if (found == input.end()) return {};
    if (!found->is_string()) refuse("cwd", "a string: a path relative to the workspace");
    return found->get<std::string>();
}

bool is_in_range(const json& value) {
    // A number above the range of int64 is unsigned; read as signed it would be a small one.
    if (value.is_number_unsigned())
        return value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= kLongestTimeout;
    return value.is_number_integer() && value.get<std::int64_t>() >= 1 &&
           value.get<std::int64_t>() <= kLongestTimeout;
}

std::chrono::seconds timeout_of(const json& input) {
    const auto found = input.find("timeout_seconds");
    if (found == input.end()) return std::chrono::seconds{kDefaultTimeout};
    if (!is_in_range(*found)) refuse("timeout_seconds", "a whole number from 1 to 86400");
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
            {"default", kDefaultTimeout}}}}},
        {"required", json::array({"command"})},
        {"additionalProperties", false},
    };
}

}  // namespace sandpipe::tool
