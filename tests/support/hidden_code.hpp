#pragma once

#include <string>

namespace sandpipe::testing {

/// Changes the library at `path` (hidden_code of tests/programs) so that a loader maps none of it to be executed:
/// its program headers say that all of it is only read, and lead to others that say what is true, which the loader
/// believes when it gives relocated parts their rights back (DT_TEXTREL, by mprotect). Throws std::runtime_error.
void hide_code(const std::string& path);

}  // namespace sandpipe::testing
