#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wire/access_rules.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe {

/// What a command finds at a place, as the mounts make it.
enum class View : std::uint8_t {
    host_read_only,
    host_writable,
    masked,   ///< nothing can be opened
    own_tmp,  ///< the session's temporary directory, which shows nothing of the host's
};

/// Everything that decides about the mounts. Between two of the places the view does not change, because
/// every rule begins at one of them.
struct MountInput {
    wire::AccessRules rules;             ///< those of the policy; the session's own places are not in it
    std::map<std::string, bool> places;  ///< where rules begin and something exists; true: a directory
    std::string tmp;                     ///< where the private /tmp belongs
    std::uint64_t tmp_bytes = 0;         ///< its size; 0: the kernel's default
    std::vector<std::string> devices;    ///< further nodes below /dev
};

/// Whether a rule that begins at or below `outer` shows `place` or lets it be written.
[[nodiscard]] bool is_granted_within(const wire::AccessRules& rules, std::string_view outer,
                                     std::string_view place);

/// The view at `place`. The rules decide, so the mounts and the supervisor cannot disagree.
[[nodiscard]] View view_of(const MountInput& input, std::string_view place);

/// The mounts in the order in which a cell carries them out. Pure; the order of the rules does not matter.
[[nodiscard]] std::vector<wire::MountOp> lay_out_mounts(const MountInput& input);

}  // namespace sandpipe
