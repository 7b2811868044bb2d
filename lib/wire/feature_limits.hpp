#pragma once

#include <string>
#include <string_view>

namespace sandpipe::wire {

/// What of this machine may be used: everything, unless a test says less. It can only take away, and what is taken away
/// is missed as on a machine without it: sessions refuse to start, or their report says so.
struct FeatureLimits {
    static constexpr int kAnyLandlock = 1000;
    int landlock_abi = kAnyLandlock;  ///< at most this version; 0: no Landlock
    bool listener = true;             ///< seccomp user notification
    bool addfd_send = true;           ///< SECCOMP_ADDFD_FLAG_SEND
    bool wait_killable = true;        ///< SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
    bool close_range = true;          ///< close_range(2)
    bool memfd_exec = true;           ///< executable memfds
    friend bool operator==(const FeatureLimits&, const FeatureLimits&) = default;
};

/// The environment variable of the host that lowers them, for tests of sandpipe itself.
inline constexpr const char* kFeatureVariable = "SANDPIPE_TEST_WITHOUT";

/// Words with commas between them: "landlock", "landlock>N" (all versions above N), "listener", "addfd_send",
/// "wait_killable", "close_range", "memfd_exec". False for anything else; "" takes nothing away.
[[nodiscard]] bool parse_feature_limits(std::string_view words, FeatureLimits& limits);
/// As `parse_feature_limits` reads it.
[[nodiscard]] std::string to_words(const FeatureLimits& limits);

}  // namespace sandpipe::wire
