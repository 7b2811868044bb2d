#pragma once

#include <sandpipe/enforcement_report.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/explain.hpp>
#include <sandpipe/output_event.hpp>

#include <string>
#include <system_error>
#include <string_view>

namespace sandpipe::cli {

// Each returns one JSON object with its newline. Never throws for bytes that are not UTF-8: output then comes as
// base64 only; a path has U+FFFD in the places of such bytes, and its bytes beside it as NAME_base64; other words get
// U+FFFD.

/// {"event":"start",...}; `enforcement` is null for a command without a sandbox.
[[nodiscard]] std::string start_line(std::string_view marker, const EnforcementReport* enforcement);

/// The line of any event of a stream; `Finished` gives the end line. A warning about the session, which comes
/// before its commands' events, has number 0.
[[nodiscard]] std::string event_line(const OutputEvent& event);

/// The one object of `exec --json`: exit_code, out, err, failed, and what an end line says.
[[nodiscard]] std::string result_object(const BinaryExecResult& result);

/// One answer of `explain --json`.
[[nodiscard]] std::string explanation_line(const std::string& act, const std::string& target,
                                           const Explanation& answer);

/// {"error":...,"hint":...}: the only line of an `explain --json` that cannot answer.
[[nodiscard]] std::string refusal_line(const CommandResult& result);

/// The result of something that never became a command: wrong options, or a session that could not be made.
[[nodiscard]] CommandResult refusal(const Error& error);

/// The result of a command that a signal to us cancelled before its start.
[[nodiscard]] CommandResult cancelled_start();
/// Where the machine has not even what we need ourselves.
[[nodiscard]] CommandResult refusal(const std::system_error& error);

}  // namespace sandpipe::cli
