#pragma once

#include <sandpipe/policy.hpp>

namespace sandpipe {

/// Whether only listed programs may be started. A list does that by itself: whoever gave one, and not the switch, did
/// not mean everything.
[[nodiscard]] inline bool restricts_execution(const FilesystemPolicy& policy) noexcept {
    return policy.restrict_execute || !policy.allow_execute.empty();
}

}  // namespace sandpipe
