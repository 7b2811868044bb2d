#pragma once

#include <sandpipe/command_stream.hpp>
#include <sandpipe/enforcement_report.hpp>

#include <string>
#include <vector>

#include "host.hpp"
#include "options.hpp"

namespace sandpipe::cli {

/// What is shown of a command and stands outside its stream.
struct Presentation {
    bool json = false;
    bool quiet = false;
    const EnforcementReport* enforcement = nullptr;  ///< nullptr: no sandbox; lives as long as the command
    std::vector<std::string> session_warnings;
};

/// Shows the stream on our stdout and stderr until its end. A signal stops the command, a second one kills
/// it.
awaitable<Ending> stream_command(Host& host, CommandStream stream, Presentation presentation);

}  // namespace sandpipe::cli
