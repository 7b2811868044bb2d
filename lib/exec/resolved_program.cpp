#include "resolved_program.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "process/start_request.hpp"

namespace sandpipe {

namespace fs = std::filesystem;

std::string resolved_program(const InvocationFields& fields, const std::vector<std::string>& snapshot) {
    const std::vector<std::string> env = fields.env ? fields.env->resolve(snapshot) : snapshot;
    for (const std::string& candidate : detail::candidates(fields.program, env, snapshot)) {
        std::error_code error;
        const fs::path file = fs::canonical(fs::path(fields.cwd) / candidate, error);
        if (!error && fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0) return file.string();
    }
    return {};
}

}  // namespace sandpipe
