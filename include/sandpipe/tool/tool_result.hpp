#pragma once

#include <sandpipe/tool/spooled_artifact.hpp>

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace sandpipe {

/// What a model gets back, and what its host can read besides.
struct ToolResult {
    bool is_error = false;  ///< the command did not run, or did not finish with 0

    /// For the model. UTF-8: the output with markers in their places, its middle left out where it is longer
    /// than `text_limit`, then sentences on how it ended and what to do about that. Host paths in what
    /// sandpipe writes are redacted: the workspace is ".", the home "~".
    std::string text;

    /// The same facts as fields; all of them are always there, null where there is nothing to say:
    ///
    ///     tool                 "run_shell_command"
    ///     call_id              the host's name for the call, or null
    ///     command_id           as in log records and audit events; 0 if no command was begun
    ///     gate                 "approved", "declined", "timed_out", "aborted"; null if it was not asked
    ///     status               "exited", "signaled", "not_started"
    ///     exit_code            -1 where there is none
    ///     signal               "SIGSEGV" or null
    ///     cause                "finished", "timed_out", "cancelled", "output_limit", "not_started", "lost"
    ///     failed               true for anything but exit code 0 and cause "finished"
    ///     error                an E_ name where the call was refused before a command was begun, else null
    ///     reason               the words for it, or null
    ///     stage                of a failed start: "cwd", "program", ..., or null
    ///     duration_ms          from the start of the command to its exit
    ///     output_bytes         what the command wrote, stdout and stderr together
    ///     text_bytes_left_out  of the output with its markers, not in `text`
    ///     text_lines_left_out
    ///     artifact             {"bytes", "kept", "lines", "truncated", "problem"} or null
    ///     denials              the first 50, without known probes: {"kind", "operation", "path", "resolved",
    ///                          "second_path", "second_resolved", "host", "port", "errno", "rule", "reason",
    ///                          "program", "folded"}
    ///     denial_count         refused calls, folded ones too
    ///     denials_complete     false where this machine cannot report them all
    ///     limit_hit            the resource limit that was hit, or null
    ///     marker               the number in the markers of `text`; "" if no command was begun
    nlohmann::json summary;

    /// All of the output with its markers, as far as its quota allows. Null if no command was begun.
    std::shared_ptr<const SpooledArtifact> artifact;
};

}  // namespace sandpipe
