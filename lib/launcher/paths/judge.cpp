#include "launcher/paths/judge.hpp"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: RENAME_* are GNU's

#include <cerrno>

#include "launcher/kernel/directory_of.hpp"

namespace sandpipe::launcher {
namespace {

constexpr Judgement kProceed{Decision::proceed, 0, {}};
constexpr Judgement kPerform{Decision::perform, 0, {}};

// What an owner needs to list a directory and to look at what is in it.
constexpr std::uint32_t kSearchable = 0500;

// What a grant of a single file is no grant of.
constexpr std::string_view kNameOfRoot = "its name stands in a directory that is not writable";

Judgement refuse(int error) { return {Decision::refuse, error, {}}; }

/// `otherwise`, unless the rules forbid writing at `site`.
Judgement judge_write(const wire::AccessRules& rules, const Site& site, const Judgement& otherwise) {
    // A standard stream may be a file of the host's whose name is that of another here. A root shows the host's own.
    if (site.foreign && !rules.in_root(site.place)) return {Decision::deny, EROFS, {}};
    wire::Verdict verdict = rules.write(site.place, site.initial);
    if (verdict.allowed) return otherwise;
    return {Decision::deny, verdict.error, std::move(verdict.rule)};
}

/// Where the command has no right to write, what it would be let do.
Judgement on_behalf(const wire::AccessRules& rules, Judgement judgement) {
    if (rules.writes_on_behalf() && judgement == kProceed) return kPerform;
    return judgement;
}

bool denies(const Judgement& judgement) { return judgement.decision == Decision::deny; }

/// The entry at `site` itself is made, removed or moved. That changes the directory it stands in, which the name of a
/// writable root, or of a node of the session's own /dev, does not share. A new repository is a directory like others
/// here.
Judgement judge_entry(const wire::AccessRules& rules, const Site& site) {
    Judgement judgement = judge_write(rules, site, kPerform);
    if (denies(judgement) || site.place == "/" || rules.write(directory_of(site.place), true).allowed) return judgement;
    return {Decision::deny, EROFS, std::string(kNameOfRoot)};
}

Judgement protects(const wire::AccessRule& rule) { return {Decision::deny, EACCES, rule.text}; }

/// "**/NAME" matches a name wherever it stands below its place: what moves within that matches there as it did before.
bool matches_at_both(const wire::AccessRule& rule, std::string_view other) {
    constexpr std::string_view kAnywhere = "**/";
    const bool anywhere =
        rule.glob.starts_with(kAnywhere) && rule.glob.find('/', kAnywhere.size()) == std::string::npos;
    return anywhere && wire::holds(rule.place, other);
}

/// What stands at `site` goes away to `to` as a whole: it may not take a protected place with it, nor what came to a
/// name that a glob denies after the session was planned.
Judgement judge_departure(const wire::AccessRules& rules, const Site& site, const BringsMatch& matches,
                          std::string_view to) {
    Judgement judgement = judge_entry(rules, site);
    if (denies(judgement) || site.kind != Kind::directory) return judgement;
    const auto below = rules.protected_below(site.place);
    if (!below.empty()) return protects(*below.front());
    for (const wire::AccessRule* rule : rules.globs_below(site.place))
        if (!matches_at_both(*rule, to) && matches(*rule, site.place)) return protects(*rule);
    return kPerform;
}

/// Nothing is there to be changed. Where that is denied the kernel is not left to find out: by then another session, or
/// the host, may have made it.
Judgement judge_missing(const wire::AccessRules& rules, const Site& site) {
    const bool is_open = wire::holds("/proc", site.place) || rules.write(site.place, site.initial).allowed;
    return is_open ? kProceed : refuse(ENOENT);
}

Judgement judge_new_file(const wire::AccessRules& rules, std::uint64_t flags, const Site& site) {
    if (!(flags & O_CREAT)) return judge_missing(rules, site);
    // Nothing is made: EINVAL since 6.4 (before, Landlock refuses).
    if (flags & O_DIRECTORY) return kProceed;
    // Nobody can make a file there: it is missing, not forbidden.
    if (wire::holds("/proc", site.place)) return kProceed;
    return judge_entry(rules, site);
}

}  // namespace

bool is_rename(unsigned flags) noexcept {
    return flags == 0 || flags == RENAME_NOREPLACE || flags == RENAME_EXCHANGE || flags == RENAME_WHITEOUT ||
           flags == (RENAME_WHITEOUT | RENAME_NOREPLACE);
}

bool asks_to_write(std::uint64_t flags) noexcept {
    constexpr std::uint64_t kTemporary = O_TMPFILE & ~O_DIRECTORY;
    if (flags & O_PATH) return false;
    return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC | kTemporary)) != 0;
}

Judgement judge_open(const wire::AccessRules& rules, std::uint64_t flags, const Site& site) {
    // An unnamed file in a directory: it gets a name by link, if at all.
    if ((flags & O_TMPFILE) == O_TMPFILE)
        return site.kind == Kind::directory ? on_behalf(rules, judge_change(rules, site)) : kProceed;
    // No file is made where a slash follows the name: EISDIR, whatever stands there.
    if ((flags & O_CREAT) && site.slashed) return kProceed;
    if (site.kind == Kind::missing) return judge_new_file(rules, flags, site);
    if ((flags & O_CREAT) && (flags & O_EXCL)) return refuse(EEXIST);
    // The kernel says EISDIR, ELOOP and ENOTDIR before anything else, but ENXIO after that the right to write is missing.
    if (site.kind == Kind::directory || site.kind == Kind::symlink) return kProceed;
    if (site.kind == Kind::socket)
        return asks_to_write(flags & ~std::uint64_t{O_CREAT}) && rules.in_root(site.place)
                   ? on_behalf(rules, kProceed)
                   : kProceed;
    if (site.slashed || (flags & O_DIRECTORY)) return kProceed;
    // Only O_CREAT was asked for, and that is done already.
    if (!asks_to_write(flags & ~std::uint64_t{O_CREAT})) return kProceed;
    Judgement judgement = judge_truncate(rules, site);
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    return site.kind == Kind::fifo && writes ? on_behalf(rules, std::move(judgement)) : judgement;
}

/// Whether it exists does not matter: what is below a denied place shows to nobody.
Judgement judge_read(const wire::AccessRules& rules, std::string_view place) {
    if (place.empty()) return kProceed;
    wire::Verdict verdict = rules.read(place);
    if (verdict.allowed) return kProceed;
    return {Decision::deny, verdict.error, std::move(verdict.rule)};
}

Judgement judge_change(const wire::AccessRules& rules, const Site& site) {
    if (site.kind == Kind::missing) return judge_missing(rules, site);
    if (site.place.empty()) return kProceed;
    if (site.slashed && site.kind != Kind::directory) return kProceed;
    return judge_write(rules, site, kProceed);
}

Judgement judge_mode(const wire::AccessRules& rules, const Site& site, std::uint32_t mode) {
    return site.kind == Kind::symlink && !site.slashed ? refuse(EOPNOTSUPP) : judge_attribute(rules, site, mode);
}

Judgement judge_attribute(const wire::AccessRules& rules, const Site& site, std::optional<std::uint32_t> mode) {
    if (site.kind == Kind::missing) return refuse(ENOENT);
    if (site.slashed && site.kind != Kind::directory) return refuse(ENOTDIR);
    if (site.place.empty() && !site.foreign) return kPerform;
    Judgement judgement = judge_write(rules, site, kPerform);
    // The next session could not find what is protected there.
    const bool closes = site.kind == Kind::directory && mode && (*mode & kSearchable) != kSearchable;
    if (denies(judgement) || !closes) return judgement;
    const auto below = rules.protected_below(site.place);
    return below.empty() ? kPerform : protects(*below.front());
}

Judgement judge_truncate(const wire::AccessRules& rules, const Site& site) {
    Judgement judgement = judge_change(rules, site);
    // Devices mean something to their opener, and may block; a FIFO has no length.
    return site.kind == Kind::file && !site.slashed ? on_behalf(rules, std::move(judgement)) : judgement;
}

Judgement judge_execute(const wire::AccessRules& rules, const Site& site) {
    // The kernel says ENOENT, EACCES and ENOTDIR before anything else.
    if (site.kind != Kind::file || site.slashed) return kProceed;
    wire::Verdict verdict = rules.execute(site.place);
    if (verdict.allowed) return kProceed;
    return {Decision::deny, verdict.error, std::move(verdict.rule)};
}

Judgement judge_map(const wire::AccessRules& rules, const Site& site, bool is_program) {
    if (site.foreign) return {Decision::deny, EACCES, "allowExecute"};
    const bool is_library = !is_program && site.place.starts_with('/') && !rules.write(site.place).allowed;
    return is_library ? kProceed : judge_execute(rules, site);
}

Judgement judge_arrival(const wire::AccessRules& rules, const Site& site, Kind kind, const Load& load) {
    const std::string_view place = site.place;
    Judgement judgement = judge_entry(rules, site);
    if (denies(judgement) || (kind != Kind::directory && kind != Kind::symlink)) return judgement;
    for (const wire::AccessRule* rule : rules.protected_below(place))
        if (kind == Kind::symlink || load.brings(wire::relative_to(place, rule->place)))
            return protects(*rule);
    // No glob looks through links, but what stands before it is a name like any other.
    if (kind == Kind::symlink) {
        const wire::AccessRule* glob = rules.denying_glob_at(place);
        return glob ? protects(*glob) : kPerform;
    }
    for (const wire::AccessRule* rule : rules.globs_below(place))
        if (!matches_at_both(*rule, load.from) && load.matches(*rule, place)) return protects(*rule);
    return kPerform;
}

Judgement judge_make(const wire::AccessRules& rules, Kind made, const Site& site) {
    if (!site.ordinary) return kPerform;
    if (site.kind != Kind::missing) return refuse(EEXIST);
    return judge_arrival(rules, site, made, {});
}

Judgement judge_remove(const wire::AccessRules& rules, const Site& site) {
    if (!site.ordinary) return kPerform;
    if (site.kind == Kind::missing) return refuse(ENOENT);
    // What is above a protected place can only go when it is empty, and then there is nothing to protect.
    return judge_entry(rules, site);
}

Judgement judge_link(const wire::AccessRules& rules, const Site& from, const Site& to) {
    if (from.kind == Kind::missing) return refuse(ENOENT);
    if (!to.ordinary || to.kind != Kind::missing) return refuse(EEXIST);
    // An unnamed file has no other name that could be protected.
    Judgement judgement = from.place.empty() ? kPerform : judge_write(rules, from, kPerform);
    if (denies(judgement)) return judgement;
    return judge_arrival(rules, to, from.kind, {});
}

Judgement judge_rename(const wire::AccessRules& rules, const Rename& rename) {
    const Site& from = rename.from;
    const Site& to = rename.to;
    const bool exchange = (rename.flags & RENAME_EXCHANGE) != 0;
    if (!is_rename(rename.flags)) return refuse(EINVAL);
    if (!from.ordinary || !to.ordinary) return kPerform;
    if (from.kind == Kind::missing || (exchange && to.kind == Kind::missing)) return refuse(ENOENT);
    if ((rename.flags & RENAME_NOREPLACE) && to.kind != Kind::missing) return refuse(EEXIST);
    Judgement judgement = judge_departure(rules, from, rename.from_matches, to.place);
    if (!denies(judgement))
        judgement =
            judge_arrival(rules, to, from.kind, {rename.from_brings, rename.from_matches, from.place});
    if (!denies(judgement) && exchange) judgement = judge_departure(rules, to, rename.to_matches, from.place);
    if (!denies(judgement) && exchange)
        judgement =
            judge_arrival(rules, from, to.kind, {rename.to_brings, rename.to_matches, to.place});
    return judgement;
}

}  // namespace sandpipe::launcher
