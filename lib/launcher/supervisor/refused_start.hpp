#pragma once

#include <optional>
#include <string>

#include "wire/messages.hpp"

namespace sandpipe::launcher {

/// The denial behind a command that could not be started, if the policy forbids what its start failed at: entering
/// `cwd`, or executing the program or its interpreter. The start's own calls are not judged while they happen,
/// because they are made in a process that shares memory with this one; so the same judgement is asked for
/// afterwards. `cwd` is the command's, absolute.
[[nodiscard]] std::optional<wire::Denied> refused_start(const wire::AccessRules& rules, const wire::Failure& failure,
                                                        const std::string& cwd);

}  // namespace sandpipe::launcher
