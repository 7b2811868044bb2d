#pragma once

#include <sandpipe/error.hpp>

#include "wire/messages.hpp"

namespace sandpipe {

/// A place is not what it was when the session was planned: the host, or a command of another session, has replaced it.
struct PlaceChanged : Error {
    using Error::Error;
};

/// Throws the `Error` for a session whose cell could not be made: E_SANDBOX_UNSUPPORTED_ENV where the machine refuses a
/// mechanism, with the remedy; else E_SANDBOX_FAILED, as a `PlaceChanged` where planning it again may help.
/// `weaker`: the options let it go on without what can be given up.
[[noreturn]] void throw_cell_failure(const wire::Failure& failure, bool weaker);

}  // namespace sandpipe
