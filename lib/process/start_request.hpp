#pragma once

#include <sandpipe/invocation.hpp>

#include <optional>
#include <string>
#include <vector>

#include "process/session.hpp"
#include "wire/messages.hpp"

namespace sandpipe::detail {

/// Throws `Error` E_INVALID_SANDBOX_CONFIG naming the first thing that no command can be started with: an
/// empty program, NUL in a string, a timeout that is not positive, a signal that does not exist, ...
void check_invocation(const InvocationFields& fields);

/// What to try for `program`: itself if it has a slash, else its name in each directory of the PATH of `env`,
/// or of `fallback` if that has none. An empty directory in PATH means the command's cwd.
[[nodiscard]] std::vector<std::string> candidates(const std::string& program,
                                                  const std::vector<std::string>& env,
                                                  const std::vector<std::string>& fallback);

/// The value of `name` in a block of "NAME=VALUE"; nullptr if it is not there.
[[nodiscard]] const char* find_variable(const std::vector<std::string>& env, std::string_view name);

/// What the kernel says to this request whatever else it finds, because of its size: such a one is not sent, for what
/// serves all commands need not take it in. What only may be too much is the kernel's to say.
[[nodiscard]] std::optional<wire::Failure> certain_failure(const wire::StartCommand& request);

/// A remedy for a failed start, for the user. Looks at sizes and names only; starts nothing.
[[nodiscard]] std::string start_hint(const wire::Failure& failure, const wire::StartCommand& request);
/// What comes after that where something is missing which the session only hides; "" else.
[[nodiscard]] std::string hidden_hint(const Session& session, const wire::Failure& failure,
                                      const wire::StartCommand& request);

}  // namespace sandpipe::detail
