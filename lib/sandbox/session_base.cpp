#include "session_base.hpp"

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
    const fs::path path = asked.empty() ? fs::current_path(error) : fs::path(asked);
    const fs::path real = error ? fs::path() : fs::canonical(path, error);
    if (error)
        throw Error(Errc::invalid_sandbox_config,
                    "the workspace \"" + path.string() + "\" cannot be used: " + error.message());
    if (!fs::is_directory(real, error))
        throw Error(Errc::invalid_sandbox_config,
                    "the workspace \"" + real.string() + "\" is not a directory");
    return real.string();
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
