#pragma once

#include <string>

namespace sandpipe::testing {

/// Writes a library of which no part of the file is to be executed: its code is made in empty memory by relocations.
/// It says "code ran" when it is loaded, on x86-64. Throws std::runtime_error.
void write_relocated_code(const std::string& path);

}  // namespace sandpipe::testing
