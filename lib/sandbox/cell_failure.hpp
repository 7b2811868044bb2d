#pragma once

#include <sandpipe/error.hpp>

#include "wire/messages.hpp"

namespace sandpipe {

/// A place was replaced between the look at it and the mount on it: another look may find it settled.
class PlaceChanged final : public Error {
  public:
    using Error::Error;
};

/// Throws the `Error` for a session whose cell could not be made: E_SANDBOX_UNSUPPORTED_ENV where the machine refuses a
/// mechanism, with the remedy; else E_SANDBOX_FAILED, as a PlaceChanged where it is that.
/// `weaker`: the options let it go on without what can be given up.
[[noreturn]] void throw_cell_failure(const wire::Failure& failure, bool weaker);

}  // namespace sandpipe
