#include "sandbox/session_base.hpp"

#include <sandpipe/error.hpp>

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace sandpipe {

namespace fs = std::filesystem;

std::string find_workspace(const std::string& asked) {
    std::error_code error;
    const fs::path here = asked.starts_with('/') ? fs::path() : fs::current_path(error);
    const fs::path path = here / asked;
    const fs::path real = error ? fs::path() : fs::canonical(path, error);
    const bool is_directory = !error && fs::is_directory(real, error);
    const std::string shown = asked.empty() ? "." : asked;
    if (error)
        throw Error(Errc::invalid_sandbox_config, "the workspace \"" + shown + "\" cannot be used: " + error.message() +
                                                      "; accepted: an existing directory");
    if (!is_directory)
        throw Error(Errc::invalid_sandbox_config, "the workspace \"" + shown + "\" is not a directory");
    return path.string();
}

std::string find_home(const char* variable) {
    if (variable && *variable == '/') return variable;
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
        return found->pw_dir;
    return {};
}

}  // namespace sandpipe
