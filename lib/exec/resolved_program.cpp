#include "resolved_program.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace sandpipe {

namespace fs = std::filesystem;

std::string resolved_program(const std::vector<std::string>& names, const std::string& cwd) {
    for (const std::string& name : names) {
        std::error_code error;
        const fs::path file = fs::canonical(fs::path(cwd) / name, error);
        if (!error && fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0) return file.string();
    }
    return {};
}

}  // namespace sandpipe
