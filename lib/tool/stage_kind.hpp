#pragma once

#include <sandpipe/end_status.hpp>

namespace sandpipe::tool {

/// Whether a start failed for how the machine or the host is, and not for what the model asked. Its details
/// are for the host: paths of its own files, settings of the kernel.
[[nodiscard]] constexpr bool is_of_the_machine(Stage stage) noexcept {
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
            return true;
        case Stage::queue:
        case Stage::resources:
        case Stage::cwd:
        case Stage::program:
        case Stage::interpreter:
        case Stage::permission:
        case Stage::arguments:
        case Stage::options:
            return false;
    }
    return true;
}

}  // namespace sandpipe::tool
