#pragma once

#include <sandpipe/denial_kind.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sandpipe {

/// "write", "read", ...
[[nodiscard]] std::string_view to_string(DenialKind kind) noexcept;

/// One act that the policy forbade, noticed by the supervisor in the kernel's own call.
/// It stands in the stream exactly where it happened: after all that the command wrote before the call,
/// before all that it wrote afterwards.
struct Denial {
    std::uint64_t seq = 0;            ///< its number in the stream
    std::chrono::nanoseconds time{};  ///< since the start of the command
    DenialKind kind = DenialKind::write;
    std::string operation;    ///< the act: open, mkdir, unlink, rename, ...
    std::string path;         ///< as the command asked for it (any bytes)
    std::string resolved;     ///< the place it leads to
    std::string second_path;  ///< the other name of a rename or link, as asked; else empty
    std::string second_resolved;
    std::string host;  ///< for connect and domain
    std::uint16_t port = 0;
    int error = 0;     ///< errno the call failed with: EROFS outside the roots, EACCES for a rule
    std::string rule;  ///< the rule of the policy that decided
    std::optional<std::string> reason;  ///< the policy's own words for it, if it has any
    int pid = 0;                        ///< inside the sandbox
    std::string program;                ///< the name of the process (comm)
    std::vector<std::string> writable_roots;  ///< the session's, at most the first 64 of them
    bool probe = false;        ///< a known harmless probe: in the API and JSON, not in text
    std::uint64_t folded = 0;  ///< refused calls that this one stands for, beyond itself
};

}  // namespace sandpipe
