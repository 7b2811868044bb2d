#pragma once

#include <sandpipe/invocation.hpp>
#include <sandpipe/unique_fd.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "process/stdio_files.hpp"
#include "wire/messages.hpp"

namespace sandpipe::detail {

/// A command's descriptors 0 to 2, and the host's ends of those that are pipes.
struct StdioPlan {
    std::vector<unique_fd> child;          ///< stdin, stdout, stderr
    unique_fd input;                       ///< to write stdin to; non-blocking
    std::array<unique_fd, 2> output;       ///< to read stdout (or both) and stderr from; non-blocking
    std::optional<wire::Failure> failure;  ///< a file or descriptor that cannot be used, or none left
};

/// Makes and collects what `fields` asks for. The command's ends are ordinary blocking descriptors. `files`: those of
/// `fields`, opened; nullptr where it names none.
[[nodiscard]] StdioPlan plan_stdio(const InvocationFields& fields, StdioFiles* files);

/// The first of a sandboxed command's descriptors that is a way out of the sandbox: a socket that is not connected,
/// or of a type that each message can send elsewhere. It is of the host's network, whatever the command's own is.
[[nodiscard]] std::optional<wire::Failure> find_way_out(const StdioPlan& plan);

/// Writes without blocking and without SIGPIPE, whatever the host does with that signal. A count or -errno.
[[nodiscard]] long write_quietly(int fd, const char* data, std::size_t size);

}  // namespace sandpipe::detail
