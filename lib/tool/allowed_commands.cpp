#include "allowed_commands.hpp"

#include <sandpipe/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sandbox/policy/restricts_execution.hpp"

namespace sandpipe::tool {
namespace {

[[noreturn]] void refuse(const std::string& command, const std::string& why) {
    throw Error(Errc::invalid_sandbox_config, "allowed_commands: \"" + command + "\" " + why +
                                                  "; give an absolute path, or a name that stands in PATH");
}

/// A directory would grant all programs in it.
bool is_program(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::string find_in(std::string_view path, const std::string& name) {
    while (!path.empty()) {
        const std::string_view folder = path.substr(0, path.find(':'));
        path.remove_prefix(std::min(path.size(), folder.size() + 1));
        const std::string candidate = std::string(folder) + "/" + name;
        if (folder.starts_with('/') && is_program(candidate)) return candidate;
    }
    refuse(name, "is not found");
}

std::string locate(const std::string& command, std::string_view path) {
    if (command.empty()) refuse(command, "is empty");
    if (command.find('\0') != std::string::npos) refuse(command, "has a NUL byte");
    if (command.find('/') == std::string::npos) return find_in(path, command);
    if (command.front() != '/') refuse(command, "is relative");
    return command;
}

PathPattern literal(const std::string& path) {
    PathPattern pattern(path);
    pattern.literal = true;
    return pattern;
}

}  // namespace

std::vector<std::string> locate_commands(const std::vector<std::string>& commands, std::string_view path) {
    std::vector<std::string> programs;
    for (const std::string& command : commands) programs.push_back(locate(command, path));
    return programs;
}

SandboxPolicy with_allowed_commands(SandboxPolicy policy, const std::vector<std::string>& programs,
                                    const std::string& shell) {
    FilesystemPolicy& files = policy.filesystem;
    const auto is_allowed = [&](const std::string& path) {
        return path == shell || std::find(programs.begin(), programs.end(), path) != programs.end();
    };
    if (restricts_execution(files)) {
        for (const PathPattern& entry : files.allow_execute)
            if (!is_allowed(entry.path))
                throw Error(Errc::sandbox_policy_conflict,
                            "allowExecute: \"" + entry.path + "\" is none of the tool's allowed_commands");
        return policy;
    }
    files.restrict_execute = true;
    for (const std::string& program : programs) files.allow_execute.push_back(literal(program));
    files.allow_execute.push_back(literal(shell));
    return policy;
}

}  // namespace sandpipe::tool
