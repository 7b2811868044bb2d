#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "access_rules.hpp"
#include "codec.hpp"

namespace sandpipe::wire {

/// One step in laying out a session's view of the file system. The list is carried out in order; each step
/// either succeeds or ends the session's start with its path and errno.
enum class MountStep : std::uint8_t {
    take_tree,       ///< clone the subtree at `path` into `slot`, before anything is hidden or made read-only
    read_only_root,  ///< everything: read-only, nosuid
    private_tmp,     ///< a tmpfs of `bytes` at `path`, mode 1777; its skeleton gets `holes` as mount points
    private_dev,     ///< a minimal /dev at `path`; `holes` are further device nodes of the host
    place_writable,  ///< put the tree of `slot` at `path`, writable
    place_read_only,  ///< put the tree of `slot` at `path`, read-only
    bind_read_only,   ///< what is at `path` becomes a read-only mount of itself
    mask,             ///< what is at `path` cannot be read: every open gives EACCES, for root too
    mask_with_holes,  ///< as mask, for a directory in which the places `holes` (absolute) will be mounted
                      ///< again
};

struct MountOp {
    MountStep step = MountStep::read_only_root;
    std::string path;  ///< absolute and resolved by the host; a symbolic link found in it now fails the step
    std::uint32_t slot = 0;
    bool is_directory = true;
    std::uint64_t bytes = 0;
    bool noexec = false;  ///< what is placed there, or in /dev/shm, cannot be executed nor mapped to be
    std::vector<std::string> holes;
    std::vector<std::uint8_t> hole_is_directory;  ///< for each of `holes`
};

/// Everything that a cell is made from. Plain data: the host plans, the cell obeys.
struct SessionPlan {
    std::vector<MountOp> mounts;
    AccessRules rules;
    bool filesystem_enforced = true;  ///< false: no mounts but /proc, no Landlock
    bool own_network = true;
    std::vector<std::string> unix_sockets;  ///< of the host, that commands may connect to: resolved paths
    /// TCP ports of 127.0.0.1 on which the cell listens for its host; the sockets come with CellReady, in this
    /// order. Only with a network of its own.
    std::vector<std::uint16_t> proxy_ports;
    bool allow_weaker = false;
    std::string workspace;  ///< where commands start unless told otherwise
};

/// In a weaker session: a mechanism that it does without.
struct GivenUp {
    std::string mechanism;   ///< as the EnforcementReport names it
    std::int32_t error = 0;  ///< errno with which the machine refused it
    friend bool operator==(const GivenUp&, const GivenUp&) = default;
};

/// What the cell found that the host has to report.
struct EnforcementFacts {
    bool user_namespace = false;
    bool network_namespace = false;
    std::int32_t landlock_abi = 0;    ///< 0: none
    bool denials = false;             ///< commands have a supervisor
    std::int32_t listener_error = 0;  ///< errno of why not
    bool addfd_send = false;          ///< SECCOMP_ADDFD_FLAG_SEND
    bool wait_killable = false;       ///< SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
    std::vector<GivenUp> given_up;
};

void encode(Encoder& out, const SessionPlan& plan);
void decode(Decoder& in, SessionPlan& plan);
void encode(Encoder& out, const EnforcementFacts& facts);
void decode(Decoder& in, EnforcementFacts& facts);

}  // namespace sandpipe::wire
