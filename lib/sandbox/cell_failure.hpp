#pragma once

#include "wire/messages.hpp"

namespace sandpipe {

/// Throws the `Error` for a session whose cell could not be made: E_SANDBOX_UNSUPPORTED_ENV where the machine refuses a
/// mechanism, with the remedy; else E_SANDBOX_FAILED.
/// `weaker`: the options let it go on without what can be given up.
[[noreturn]] void throw_cell_failure(const wire::Failure& failure, bool weaker);

}  // namespace sandpipe
