#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec.hpp"

namespace sandpipe::wire {

enum class Access : std::uint8_t {
    allow_read,
    deny_read,
    allow_write,
    deny_write,
    private_write,  ///< as allow_write, for the session's own /tmp and devices, which are no roots of the
                    ///< user's
};

/// One rule on one existing place and everything below it.
struct AccessRule {
    Access access = Access::deny_write;
    std::string place;  ///< absolute and resolved: no "..", no doubled slashes, no symbolic links
    std::string text;   ///< as the user wrote it; what a Denial's `rule` says
};

/// What the rules say about one act on one place.
struct Verdict {
    bool allowed = false;
    int error = 0;     ///< what a refused call fails with: EROFS outside the roots, EACCES for a rule
    std::string rule;  ///< the text of the rule that decided; "" where none did (the default)
};

/// The evaluator of every layer: compile, explain and the supervisor ask it, so they cannot disagree. The
/// order of the rules never matters. Pure.
struct AccessRules {
    std::vector<AccessRule> rules;
    bool enabled = true;  ///< false: `filesystem.disabled`; everything is allowed

    /// Reads are allowed unless the rule with the longest place that holds `path` denies; on a tie deny wins.
    [[nodiscard]] Verdict read(std::string_view path) const;
    /// Writes are denied unless a root or a private place holds `path` and no deny_write (or prevailing
    /// deny_read) does.
    [[nodiscard]] Verdict write(std::string_view path) const;
    /// The rules that forbid writing to something strictly below `place`, whether it exists or not. What
    /// stands at `place` may not be moved away with it, and nothing may come there that brings such an entry
    /// along.
    [[nodiscard]] std::vector<const AccessRule*> protected_below(std::string_view place) const;
    /// Whether any read can be denied.
    [[nodiscard]] bool denies_reads() const noexcept;
    /// The places of all allow_write rules, sorted.
    [[nodiscard]] std::vector<std::string> writable_roots() const;
};

/// Whether `path` is `place` or stands below it. Both resolved; an empty place holds nothing.
[[nodiscard]] bool holds(std::string_view place, std::string_view path) noexcept;
/// "b/c" for the place "/a" and the path "/a/b/c"; "" unless `path` stands strictly below `place`.
[[nodiscard]] std::string_view relative_to(std::string_view place, std::string_view path) noexcept;

void encode(Encoder& out, const AccessRules& rules);
void decode(Decoder& in, AccessRules& rules);

}  // namespace sandpipe::wire
