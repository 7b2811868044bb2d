#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
    allow_execute,
    new_repository,   ///< a .git that did not exist: it can be made, by mkdir and nothing else
    deny_after_init,  ///< as deny_write, but not for the making of the repository that it is a part of
};

/// One rule on one place and everything below it, or on the names below it that a glob matches.
struct AccessRule {
    Access access = Access::deny_write;
    std::string place;  ///< absolute and resolved: no "..", no doubled slashes, no symbolic links
    std::string text;   ///< as the user wrote it; what a Denial's `rule` says
    std::string
        glob;  ///< relative to `place` (glob.hpp); the rule is about what it matches and all below that
    /// `place` is what a glob of the policy matched when the session was planned. A denial by a glob is
    /// judged by the rule with the glob; its places are known so that they cannot be moved away with what is
    /// above them.
    bool expanded = false;
    friend bool operator==(const AccessRule&, const AccessRule&) = default;
};

/// What the rules say about one act on one place.
struct Verdict {
    bool allowed = false;
    int error = 0;     ///< what a refused call fails with: EROFS outside the roots, EACCES for a rule
    std::string rule;  ///< the text of the rule that decided; "" where none did (the default)
};

/// The evaluator of every layer: compile, explain and the supervisor ask it, so they cannot disagree. The
/// order in which rules are added never matters, and one question costs about the depth of its path and the
/// number of globs above it, however many rules there are. Pure.
class AccessRules {
  public:
    AccessRules() = default;
    explicit AccessRules(std::vector<AccessRule> rules, bool rules_enabled = true);

    bool enabled = true;            ///< false: `filesystem.disabled`; everything is allowed
    bool restrict_execute = false;  ///< only what allow_execute holds may be executed

    void add(AccessRule rule);
    /// All of them, by place.
    [[nodiscard]] std::vector<AccessRule> all() const;

    /// Reads are allowed unless the rule with the longest place that holds `path` denies; on a tie deny wins.
    /// What a glob matches is denied too, unless a rule without a glob allows that very name, or one below it
    /// on the way to `path`.
    [[nodiscard]] Verdict read(std::string_view path) const;
    /// Writes are denied unless a root or a private place holds `path` and no deny_write (or prevailing
    /// deny_read) does.
    /// `initial`: the act is a part of the making of a repository.
    [[nodiscard]] Verdict write(std::string_view path, bool initial = false) const;
    /// As `read`; where execution is restricted, only what an allow_execute holds.
    [[nodiscard]] Verdict execute(std::string_view path) const;

    /// The places that no writing is allowed to, strictly below `place`, whether something exists there or
    /// not. What stands at `place` may not be moved away with it, and nothing may come there that brings such
    /// an entry along.
    [[nodiscard]] std::vector<const AccessRule*> protected_below(std::string_view place) const;
    /// Whether any read can be denied.
    [[nodiscard]] bool denies_reads() const noexcept { return enabled && denies_reads_; }
    /// The rule on `place` itself by which a repository can be made there; null: none can.
    [[nodiscard]] const AccessRule* new_repository(std::string_view place) const;
    /// Whether files in the roots are opened for writing by the supervisor only: what the host, another session or the
    /// command itself makes while that runs may be denied, and no mount can cover it before the next command.
    [[nodiscard]] bool writes_on_behalf() const noexcept { return enabled && has_roots_ && denies_writes_; }
    /// Whether a repository can be made anywhere.
    [[nodiscard]] bool makes_repositories() const noexcept { return enabled && new_repositories_; }
    /// Whether `place` stands in a writable root.
    [[nodiscard]] bool in_root(std::string_view place) const;
    /// A denying rule about names that a glob matches below just `place`; null if there is none.
    [[nodiscard]] const AccessRule* denying_glob_at(std::string_view place) const;
    /// The denying rules whose glob may match something strictly below `place`.
    [[nodiscard]] std::vector<const AccessRule*> globs_below(std::string_view place) const;
    /// The places of all allow_write rules, sorted.
    [[nodiscard]] std::vector<std::string> writable_roots() const;

    /// Calls `visit(rule)` for the rules whose place is `path` or stands above it, the longest place first.
    template <typename Visit>
    void visit_above(std::string_view path, Visit visit) const;
    /// The same for those whose place stands strictly below `place`, sorted.
    template <typename Visit>
    void visit_below(std::string_view place, Visit visit) const;

  private:
    [[nodiscard]] Verdict read_by_rules(std::string_view path) const;

    std::map<std::string, std::vector<AccessRule>, std::less<>> places_;
    bool denies_reads_ = false;
    bool denies_writes_ = false;
    bool has_roots_ = false;
    bool new_repositories_ = false;
};

/// Whether a rule of this access keeps commands from writing.
[[nodiscard]] constexpr bool denies_write(Access access) noexcept {
    return access == Access::deny_write || access == Access::deny_after_init;
}

/// Whether `path` is `place` or stands below it. Both resolved; an empty place holds nothing.
[[nodiscard]] bool holds(std::string_view place, std::string_view path) noexcept;
/// Whether `place` holds one of them.
[[nodiscard]] bool holds_any(std::string_view place, const std::vector<std::string>& others) noexcept;
/// "b/c" for the place "/a" and the path "/a/b/c"; "" unless `path` stands strictly below `place`.
[[nodiscard]] std::string_view relative_to(std::string_view place, std::string_view path) noexcept;

void encode(Encoder& out, const AccessRules& rules);
void decode(Decoder& in, AccessRules& rules);

template <typename Visit>
void AccessRules::visit_above(std::string_view path, Visit visit) const {
    while (path.starts_with('/')) {
        if (const auto found = places_.find(path); found != places_.end())
            for (const AccessRule& rule : found->second) visit(rule);
        const std::size_t slash = path.rfind('/');
        path = slash > 0 ? path.substr(0, slash) : path.substr(0, path.size() > 1 ? 1 : 0);
    }
}

template <typename Visit>
void AccessRules::visit_below(std::string_view place, Visit visit) const {
    std::string first(place);
    if (!first.ends_with('/')) first += '/';
    for (auto at = places_.lower_bound(first); at != places_.end() && at->first.starts_with(first); ++at)
        if (at->first.size() > first.size())
            for (const AccessRule& rule : at->second) visit(rule);
}

}  // namespace sandpipe::wire
