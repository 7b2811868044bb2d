#pragma once

#include <sandpipe/environment.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/packet_channel.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::detail {

/// Where the host may open a file that it named for a command's standard stream.
struct StreamPlace {
    std::string path;
    bool without_links = false;  ///< it is resolved: a link found in it has just been put there
    bool allowed = true;         ///< false: a link on the way leads to where commands may not send the host
};

/// Where the host may open what it names for a session's commands. Thread-safe, and may outlive the session: it looks
/// at files, which may take any time.
class StreamPlaces {
  public:
    virtual ~StreamPlaces() = default;
    /// `path` is absolute, and as the host wrote it.
    [[nodiscard]] virtual StreamPlace find(const std::string& path, bool writes) const = 0;
};

/// What a command needs to know of the sandbox it runs in. Made by the sandbox layer, carried by invocations.
/// Immutable once made, except for being closed. Thread-safe.
class Session {
  public:
    virtual ~Session() = default;

    /// Where start requests go.
    [[nodiscard]] virtual const std::shared_ptr<PacketChannel>& channel() const noexcept = 0;
    /// The session's own part of the environment with the command's laid over it.
    [[nodiscard]] virtual std::vector<std::string> environment(
        const std::optional<Environment>& overlay) const = 0;
    [[nodiscard]] virtual const std::string& workspace() const noexcept = 0;
    [[nodiscard]] virtual const std::vector<std::string>& writable_roots() const noexcept = 0;
    /// Whether the policy lets commands write at `path`, which is resolved, and by which rule it does not.
    [[nodiscard]] virtual wire::Verdict write_verdict(const std::string& path) const = 0;
    [[nodiscard]] virtual const std::shared_ptr<const StreamPlaces>& stream_places() const noexcept = 0;
    [[nodiscard]] virtual bool denials_complete() const noexcept = 0;
    /// What this machine keeps it from enforcing: each command's stream begins with a Warning for each.
    [[nodiscard]] virtual const std::vector<std::string>& notices() const noexcept = 0;
    /// Why commands may find nothing at `path` although the host has it; "" where there is no reason. Looks at no file.
    [[nodiscard]] virtual std::string hidden_hint(const std::string& path) const = 0;
    [[nodiscard]] virtual bool closed() const noexcept = 0;
    /// One of its commands has ended, with all of its processes. On any thread.
    virtual void command_ended() = 0;
};

}  // namespace sandpipe::detail
