#pragma once

#include <sandpipe/enforcement_report.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/output_event.hpp>

#include <string>
#include <string_view>

namespace sandpipe::cli {

// Each returns one JSON object with its newline. Never throws for bytes that are not UTF-8: output then comes
// as base64, and names get U+FFFD.

/// {"event":"start",...}; `enforcement` is null for a command without a sandbox.
[[nodiscard]] std::string start_line(std::string_view marker, const EnforcementReport* enforcement);

/// The line of any event of a stream; `Finished` gives the end line. A warning about the session, which comes
/// before its commands' events, has number 0.
[[nodiscard]] std::string event_line(const OutputEvent& event);

/// The one object of `exec --json`: exit_code, out, err, failed, and what an end line says.
[[nodiscard]] std::string result_object(const BinaryExecResult& result);

/// The result of something that never became a command: wrong options, or a session that could not be made.
[[nodiscard]] CommandResult refusal(const Error& error);

/// The result of a command that a signal to us cancelled before its start.
[[nodiscard]] CommandResult cancelled_start();

}  // namespace sandpipe::cli
