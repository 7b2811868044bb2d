#pragma once

#include <sandpipe/end_status.hpp>

#include <cstdint>

namespace sandpipe::tool {

/// What a failed start means to who asked for the command.
enum class StageKind : std::uint8_t {
    machine,    ///< how the machine or the host is. Its details are for the host: its own files, settings of the kernel
    directory,  ///< where the command should have run
    shell,      ///< the session's shell, not the command
    length,     ///< the command is too long
    busy,       ///< it may start later
    input,      ///< what was asked
};

/// The one list of stages here: all that is said or kept back about one follows from its kind.
[[nodiscard]] constexpr StageKind kind_of(Stage stage) noexcept {
    switch (stage) {
        case Stage::wrap:
        case Stage::launcher:
        case Stage::input:
        case Stage::output:
        case Stage::namespaces:
        case Stage::mounts:
        case Stage::capabilities:
        case Stage::landlock:
        case Stage::seccomp:
        case Stage::network:
            return StageKind::machine;
        case Stage::cwd:
            return StageKind::directory;
        case Stage::program:
        case Stage::interpreter:
        case Stage::permission:
            return StageKind::shell;
        case Stage::arguments:
            return StageKind::length;
        case Stage::queue:
        case Stage::resources:
            return StageKind::busy;
        case Stage::options:
            return StageKind::input;
    }
    return StageKind::machine;
}

[[nodiscard]] constexpr bool is_of_the_machine(Stage stage) noexcept { return kind_of(stage) == StageKind::machine; }

}  // namespace sandpipe::tool
