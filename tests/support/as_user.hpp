#pragma once

#include <string>

namespace sandpipe::testing {

/// Runs all tests of the program as who started it and, for root, once more as an ordinary user, from a copy
/// that this user may read. Returns main's exit status.
int run_tests_as_both(int argc, char** argv);

/// The directory that the tests of this process may fill: outside /tmp, because sessions hide that.
[[nodiscard]] const std::string& test_area();

/// A program of tests/programs, or `sandpipe`, where everybody may run it.
[[nodiscard]] std::string test_program(const std::string& name);

}  // namespace sandpipe::testing
