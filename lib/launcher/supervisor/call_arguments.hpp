#pragma once

#include "launcher/supervisor/supervised_call.hpp"

namespace sandpipe::launcher {

/// 0, or the -errno that the kernel answers because of a call's flags and such alone, before it looks at any path. A
/// call that is carried out for its caller must fail no later.
[[nodiscard]] int check_arguments(const Call& call);

}  // namespace sandpipe::launcher
