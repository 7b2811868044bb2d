#pragma once

#include <sandpipe/explain.hpp>

#include <string>

#include "sandbox/policy/compile.hpp"
#include "sandbox/session_view.hpp"

namespace sandpipe {

/// What a session says to starting the program at an absolute path: to the file, and to its interpreter or loader,
/// and that one's. Relative interpreters stand in the workspace.
[[nodiscard]] Explanation explain_program(const CompiledPolicy& compiled, const std::string& absolute,
                                          const SessionView& view);

/// The same for a bare name, which is looked for in the directories of `path` (as the variable PATH has it; null: the
/// default of execvp(3)) as a command's start does: what may not be executed is passed over.
[[nodiscard]] Explanation explain_bare_name(const CompiledPolicy& compiled, const std::string& name, const char* path,
                                            const SessionView& view);

}  // namespace sandpipe
