#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

namespace sandpipe {

/// The step of a start that failed. Values are part of the protocol with the launcher: append only.
enum class Stage : std::uint32_t {
    queue = 1,     ///< waiting for a free place (`max_running`)
    wrap,          ///< the sandbox's wrap step
    launcher,      ///< the launcher could not be started or reached
    resources,     ///< descriptors, processes or memory are exhausted
    cwd,           ///< the working directory cannot be entered
    program,       ///< the program does not exist, is a directory, or is no executable format
    interpreter,   ///< the script's interpreter or the program's loader does not exist
    permission,    ///< the program exists but may not be executed
    arguments,     ///< argv and environment are too long
    input,         ///< a file or descriptor for stdin cannot be used
    output,        ///< a file or descriptor for stdout or stderr cannot be used
    namespaces,    ///< the kernel refused a namespace
    mounts,        ///< the file system view could not be laid out
    capabilities,  ///< privileges could not be dropped
    landlock,      ///< the Landlock domain could not be entered
    seccomp,       ///< the system call filter could not be installed
    network,       ///< the session's network could not be brought up
    options,       ///< the command line or the policy is wrong
};

/// "queue", "cwd", ...: what `start_failure.stage` says in JSON.
[[nodiscard]] std::string_view to_string(Stage stage) noexcept;

/// The program ended by itself, with this code (0 to 255).
struct Exited {
    int code = 0;
};

/// The program was ended by this signal.
struct Signaled {
    int signal = 0;
    bool core_dumped = false;
};

/// No program ran. `error` is the system's reason, `path` what it was about, `hint` a remedy.
struct NotStarted {
    Stage stage = Stage::launcher;
    std::error_code error;
    std::string path;
    std::string hint;
};

/// How a command ended. 128 + n appears nowhere but in the exit status of the command line tool.
using EndStatus = std::variant<Exited, Signaled, NotStarted>;

/// Why a command ended: the FIRST of the reasons, set once. What else happened stands in independent facts.
enum class Cause : std::uint8_t {
    finished,      ///< it ended by itself
    timed_out,     ///< its timeout passed
    cancelled,     ///< the caller asked (cancellation, stop(), close())
    output_limit,  ///< it wrote more than its limit, and the limit says stop
    not_started,   ///< it never ran
    lost,          ///< the launcher, the cell or the init that held it went away
};

/// "finished", "timed_out", ...
[[nodiscard]] std::string_view to_string(Cause cause) noexcept;

/// "SIGKILL" for 9; "SIG42" where the signal has no name.
[[nodiscard]] std::string signal_name(int signal);
/// "EROFS" for 30; "E1234" where the number has no name; "" for 0.
[[nodiscard]] std::string errno_name(int error);

}  // namespace sandpipe
