#pragma once

#include <string_view>
#include <system_error>

#include "interrupts.hpp"

namespace sandpipe::cli {

/// Gives descriptors 0 to 2, where the caller closed them, something that fails when used, so that no other
/// file of ours takes their number and gets our output.
void reserve_standard_descriptors();

/// Writes all of it, however long the reader takes. With `interrupts`, signals are taken meanwhile and the
/// second one ends the waiting: operation_canceled. Every other error is the system's; EPIPE needs an ignored
/// SIGPIPE.
[[nodiscard]] std::error_code write_fully(int fd, std::string_view bytes, Interrupts* interrupts);

/// Our stdout and stderr are the same terminal, pipe or file.
[[nodiscard]] bool output_is_one_place();

}  // namespace sandpipe::cli
