#pragma once

#include <sandpipe/end_status.hpp>

#include <cstddef>
#include <cstdint>

namespace sandpipe::launcher {

/// What execve gets, and where the program is looked for.
struct ExecRequest {
    const char* const* programs = nullptr;
    std::size_t count = 0;
    bool search = false;  ///< a bare name: `programs` are its places in PATH, else the one path that was given
    char* const* argv = nullptr;
    char* const* envp = nullptr;
};

/// Why no program was executed. `program` and `passed_over` are numbers of candidates, -1 for none.
struct ExecFailure {
    Stage stage = Stage::program;
    std::int32_t error = 0;
    std::int32_t program = -1;
    /// The first place that was passed over though something may be there, and why; EISDIR for a directory.
    std::int32_t passed_over = -1;
    std::int32_t passed_over_error = 0;
};

/// Becomes the first program that can be executed; returns only if there is none. Makes raw system calls only: it runs
/// in a child that shares its parent's memory.
[[nodiscard]] ExecFailure exec_program(const ExecRequest& request) noexcept;

}  // namespace sandpipe::launcher
