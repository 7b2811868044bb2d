#include "launcher/paths/judge.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>  // NOLINT: RENAME_* are GNU's

#include <cerrno>
#include <string>
#include <vector>

namespace sandpipe::launcher {

void PrintTo(const Judgement& judgement, std::ostream* out) {
    *out << static_cast<int>(judgement.decision) << " error " << judgement.error << " rule '"
         << judgement.rule << "'";
}

namespace {

using wire::Access;

const wire::AccessRules kRules{{{Access::allow_write, "/w", "root", {}, false},
                                {Access::deny_write, "/w/.env", "env", {}, false},
                                {Access::deny_write, "/w/p/q/.env", "deep", {}, false},
                                {Access::deny_read, "/w/secret/key", "key", {}, false}},
                               true};

Judgement proceed() { return {Decision::proceed, 0, {}}; }
Judgement perform() { return {Decision::perform, 0, {}}; }
Judgement refuse(int error) { return {Decision::refuse, error, {}}; }
Judgement outside() { return {Decision::deny, EROFS, {}}; }
Judgement denied(const std::string& rule) { return {Decision::deny, EACCES, rule}; }

Site at(const std::string& place, Kind kind) { return {place, kind, true, false, false}; }
Site slashed(const std::string& place, Kind kind) { return {place, kind, true, true, false}; }
Site dots(const std::string& place) { return {place, Kind::directory, false, false, false}; }

Judgement open(std::uint64_t flags, const Site& site) { return judge_open(kRules, flags, site); }

bool never(std::string_view) { return false; }
bool never_matches(const wire::AccessRule&, std::string_view) { return false; }

Judgement rename(const Site& from, const Site& to, unsigned flags = 0, const BringsAlong& from_brings = never,
                 const BringsAlong& to_brings = never) {
    return judge_rename(kRules, {from, to, flags, from_brings, to_brings, never_matches, never_matches});
}

TEST(JudgeNames, OfARootStandInADirectoryThatIsNotGranted) {
    const wire::AccessRules rules{{{Access::allow_write, "/o/one", "one", {}, false},
                                   {Access::allow_write, "/w", "root", {}, false},
                                   {Access::allow_write, "/w/within", "within", {}, false}},
                                  true};
    const Judgement name{Decision::deny, EROFS, "its name stands in a directory that is not writable"};
    EXPECT_EQ(judge_remove(rules, at("/o/one", Kind::file)), name);
    EXPECT_EQ(judge_remove(rules, at("/w", Kind::directory)), name);
    EXPECT_EQ(judge_remove(rules, at("/w/within", Kind::directory)), perform());
    EXPECT_EQ(judge_make(rules, Kind::file, at("/o/one", Kind::missing)), name);
    EXPECT_EQ(judge_open(rules, O_CREAT | O_WRONLY, at("/o/one", Kind::missing)), name);
    EXPECT_EQ(judge_open(rules, O_CREAT | O_WRONLY, at("/o/one", Kind::file)), proceed());
    const auto move = [&](const char* from, const char* to) {
        return judge_rename(
            rules, {at(from, Kind::file), at(to, Kind::file), 0, never, never, never_matches, never_matches});
    };
    EXPECT_EQ(move("/w/new", "/o/one"), name);
    EXPECT_EQ(move("/o/one", "/w/old"), name);
    EXPECT_EQ(move("/w/new", "/w/old"), perform());
}

TEST(AsksToWrite, AsTheFilterDoes) {
    EXPECT_FALSE(asks_to_write(O_RDONLY | O_CLOEXEC | O_DIRECTORY));
    EXPECT_FALSE(asks_to_write(O_PATH | O_WRONLY | O_CREAT));
    for (const int flags : {O_WRONLY, O_RDWR, 3, O_CREAT, O_TRUNC, O_TMPFILE})
        EXPECT_TRUE(asks_to_write(flags)) << flags;
}

// Nothing that a path could be exchanged for.
const wire::AccessRules kNothingDenied{{{Access::allow_write, "/w", "root", {}, false}}, true};

TEST(JudgeOpen, NewFiles) {
    constexpr int kMake = O_WRONLY | O_CREAT;
    EXPECT_EQ(open(kMake, at("/w/x", Kind::missing)), perform());
    EXPECT_EQ(open(kMake, at("/etc/x", Kind::missing)), outside());
    EXPECT_EQ(open(kMake, at("/w/.env", Kind::missing)), denied("env"));
    EXPECT_EQ(open(kMake | O_EXCL, at("/w/.env", Kind::missing)), denied("env"));
    EXPECT_EQ(open(O_WRONLY, at("/etc/x", Kind::missing)), refuse(ENOENT)) << "not there, and not forbidden";
    EXPECT_EQ(open(kMake, slashed("/etc/x", Kind::missing)), proceed());
    EXPECT_EQ(open(kMake | O_DIRECTORY, at("/w/x", Kind::missing)), proceed());
    EXPECT_EQ(open(kMake, at("/proc/1/x", Kind::missing)), proceed());
}

TEST(JudgeOpen, ExistingFiles) {
    EXPECT_EQ(open(O_WRONLY, at("/w/x", Kind::file)), perform());
    EXPECT_EQ(judge_open(kNothingDenied, O_WRONLY, at("/w/x", Kind::file)), proceed());
    EXPECT_EQ(open(O_WRONLY, at("/etc/x", Kind::file)), outside());
    EXPECT_EQ(open(O_RDONLY | O_TRUNC, at("/etc/x", Kind::file)), outside());
    EXPECT_EQ(open(O_RDWR, at("/w/.env", Kind::file)), denied("env"));
    EXPECT_EQ(open(O_RDWR, at("/w/secret/key", Kind::file)), denied("key"));
    EXPECT_EQ(open(O_WRONLY, at("/dev/sda", Kind::device)), outside());
    EXPECT_EQ(open(O_WRONLY, at("", Kind::device)), proceed());
}

TEST(JudgeOpen, OtherReasonsComeFirst) {
    EXPECT_EQ(open(O_WRONLY | O_CREAT | O_EXCL, at("/etc/x", Kind::file)), refuse(EEXIST));
    EXPECT_EQ(open(O_RDONLY | O_CREAT, at("/etc/x", Kind::file)), proceed());
    EXPECT_EQ(open(O_WRONLY, at("/etc", Kind::directory)), proceed());
    EXPECT_EQ(open(O_WRONLY | O_NOFOLLOW, at("/etc/link", Kind::symlink)), proceed());
    EXPECT_EQ(open(O_WRONLY, at("/run/socket", Kind::socket)), proceed());
    EXPECT_EQ(open(O_WRONLY | O_CREAT, at("/w/socket", Kind::socket)), perform()) << "ENXIO, not EACCES";
    EXPECT_EQ(open(O_RDONLY | O_CREAT, at("/w/socket", Kind::socket)), proceed());
    EXPECT_EQ(open(O_WRONLY, slashed("/etc/x", Kind::file)), proceed());
    EXPECT_EQ(open(O_WRONLY | O_CREAT | O_EXCL, slashed("/etc/x", Kind::file)), proceed()) << "EISDIR";
}

TEST(JudgeOpen, UnnamedFiles) {
    EXPECT_EQ(open(O_TMPFILE | O_RDWR, at("/w", Kind::directory)), perform());
    EXPECT_EQ(judge_open(kNothingDenied, O_TMPFILE | O_RDWR, at("/w", Kind::directory)), proceed());
    EXPECT_EQ(open(O_TMPFILE | O_RDWR, at("/etc", Kind::directory)), outside());
    EXPECT_EQ(open(O_TMPFILE | O_RDWR, at("/etc/x", Kind::file)), proceed());
}

TEST(JudgeChange, ByThePlace) {
    EXPECT_EQ(judge_change(kRules, at("/w/x", Kind::file)), proceed());
    EXPECT_EQ(judge_change(kRules, at("/etc/x", Kind::file)), outside());
    EXPECT_EQ(judge_change(kRules, at("/w/.env", Kind::symlink)), denied("env"));
    EXPECT_EQ(judge_change(kRules, at("/w/x", Kind::missing)), proceed());
    EXPECT_EQ(judge_change(kRules, at("/etc/x", Kind::missing)), refuse(ENOENT)) << "it may be made in a moment";
    EXPECT_EQ(judge_change(kRules, at("/w/.env", Kind::missing)), refuse(ENOENT));
    EXPECT_EQ(judge_change(kRules, at("", Kind::file)), proceed());
}

TEST(JudgeMake, ExistingWins) {
    EXPECT_EQ(judge_make(kRules, Kind::directory, at("/w/x", Kind::missing)), perform());
    EXPECT_EQ(judge_make(kRules, Kind::directory, at("/etc/x", Kind::missing)), outside());
    EXPECT_EQ(judge_make(kRules, Kind::directory, at("/etc", Kind::directory)), refuse(EEXIST));
    EXPECT_EQ(judge_make(kRules, Kind::file, at("/w/.env", Kind::missing)), denied("env"));
    EXPECT_EQ(judge_make(kRules, Kind::directory, dots("/etc")), perform());
}

TEST(JudgeMake, NoLinkAboveAProtectedPlace) {
    EXPECT_EQ(judge_make(kRules, Kind::symlink, at("/w/p/q", Kind::missing)), denied("deep"));
    EXPECT_EQ(judge_make(kRules, Kind::symlink, at("/w/p", Kind::missing)), denied("deep"));
    EXPECT_EQ(judge_make(kRules, Kind::directory, at("/w/p", Kind::missing)), perform());
    EXPECT_EQ(judge_make(kRules, Kind::symlink, at("/w/other", Kind::missing)), perform());
}

TEST(JudgeRemove, MissingWins) {
    EXPECT_EQ(judge_remove(kRules, at("/w/x", Kind::file)), perform());
    EXPECT_EQ(judge_remove(kRules, at("/w/p", Kind::directory)), perform());
    EXPECT_EQ(judge_remove(kRules, at("/etc/x", Kind::missing)), refuse(ENOENT));
    EXPECT_EQ(judge_remove(kRules, at("/etc/x", Kind::file)), outside());
    EXPECT_EQ(judge_remove(kRules, at("/w/.env", Kind::file)), denied("env"));
    EXPECT_EQ(judge_remove(kRules, dots("/etc")), perform());
}

TEST(JudgeLink, BothEndsCount) {
    const Site fresh = at("/w/new", Kind::missing);
    EXPECT_EQ(judge_link(kRules, at("/w/x", Kind::file), fresh), perform());
    EXPECT_EQ(judge_link(kRules, at("/etc/x", Kind::file), fresh), outside());
    EXPECT_EQ(judge_link(kRules, at("/w/.env", Kind::file), fresh), denied("env"));
    EXPECT_EQ(judge_link(kRules, at("/w/x", Kind::file), at("/w/.env", Kind::missing)), denied("env"));
    EXPECT_EQ(judge_link(kRules, at("", Kind::file), fresh), perform());
    EXPECT_EQ(judge_link(kRules, at("", Kind::file), at("/etc/x", Kind::missing)), outside());
    EXPECT_EQ(judge_link(kRules, at("/w/link", Kind::symlink), at("/w/p", Kind::missing)), denied("deep"));
}

TEST(JudgeLink, OtherReasonsComeFirst) {
    EXPECT_EQ(judge_link(kRules, at("/etc/x", Kind::missing), at("/w/new", Kind::missing)), refuse(ENOENT));
    EXPECT_EQ(judge_link(kRules, at("/w/x", Kind::file), at("/etc/y", Kind::file)), refuse(EEXIST));
}

TEST(JudgeRename, BothEndsCount) {
    EXPECT_EQ(rename(at("/w/a", Kind::file), at("/w/b", Kind::file)), perform());
    EXPECT_EQ(rename(at("/etc/a", Kind::file), at("/w/b", Kind::missing)), outside());
    EXPECT_EQ(rename(at("/w/a", Kind::file), at("/etc/b", Kind::missing)), outside());
    EXPECT_EQ(rename(at("/w/.env", Kind::file), at("/w/b", Kind::missing)), denied("env"));
    EXPECT_EQ(rename(at("/w/a", Kind::file), at("/w/.env", Kind::missing)), denied("env"));
}

TEST(JudgeRename, NothingIsCarriedAway) {
    EXPECT_EQ(rename(at("/w/p", Kind::directory), at("/w/x", Kind::missing)), denied("deep"));
    EXPECT_EQ(rename(at("/w/secret", Kind::directory), at("/w/x", Kind::missing)), denied("key"));
    EXPECT_EQ(rename(at("/w/p", Kind::file), at("/w/x", Kind::missing)), perform());
    EXPECT_EQ(rename(at("/w/other", Kind::directory), at("/w/x", Kind::missing)), perform());
}

TEST(JudgeRename, NothingIsBroughtAlong) {
    const auto brings = [](std::string_view tail) { return tail == "q/.env"; };
    const Site directory = at("/w/d", Kind::directory);
    EXPECT_EQ(rename(directory, at("/w/p", Kind::missing), 0, brings), denied("deep"));
    EXPECT_EQ(rename(directory, at("/w/p", Kind::missing)), perform());
    EXPECT_EQ(rename(directory, at("/w/p/q", Kind::missing), 0, brings), perform());
    EXPECT_EQ(rename(at("/w/l", Kind::symlink), at("/w/p/q", Kind::missing)), denied("deep"));
    EXPECT_EQ(rename(at("/w/f", Kind::file), at("/w/p/q", Kind::missing)), perform());
}

TEST(JudgeRename, AnExchangeIsTwoRenames) {
    const auto always = [](std::string_view) { return true; };
    const Site directory = at("/w/d", Kind::directory);
    const Site other = at("/w/e", Kind::directory);
    EXPECT_EQ(rename(directory, other, RENAME_EXCHANGE), perform());
    EXPECT_EQ(rename(directory, at("/w/p", Kind::directory), RENAME_EXCHANGE), denied("deep"));
    EXPECT_EQ(rename(at("/w/p/q", Kind::file), directory, RENAME_EXCHANGE, never, always), denied("deep"));
    EXPECT_EQ(rename(at("/w/p/q", Kind::file), directory, RENAME_EXCHANGE), perform());
    EXPECT_EQ(rename(directory, at("/w/e", Kind::missing), RENAME_EXCHANGE), refuse(ENOENT));
}

TEST(JudgeRename, OtherReasonsComeFirst) {
    EXPECT_EQ(rename(at("/etc/a", Kind::missing), at("/etc/b", Kind::missing)), refuse(ENOENT));
    EXPECT_EQ(rename(at("/w/a", Kind::file), at("/etc/b", Kind::file), RENAME_NOREPLACE), refuse(EEXIST));
    EXPECT_EQ(rename(at("/w/a", Kind::file), at("/w/b", Kind::file), RENAME_NOREPLACE | RENAME_EXCHANGE),
              refuse(EINVAL));
    EXPECT_EQ(rename(at("/w/a", Kind::file), at("/w/b", Kind::file), 1U << 30), refuse(EINVAL));
    EXPECT_EQ(rename(dots("/w"), at("/w/b", Kind::missing)), perform());
}

const wire::AccessRules kGlobs{{{Access::allow_write, "/w", "root", {}, false},
                                {Access::deny_write, "/w", "pem", "**/*.pem", false},
                                {Access::deny_read, "/w", "conf", "conf/*.key", false}}};

TEST(JudgeGlobs, NewNamesAndDirectoriesThatBringThem) {
    const auto asked = [](std::vector<std::string>& rules, bool answer) {
        return [&rules, answer](const wire::AccessRule& rule, std::string_view place) {
            rules.push_back(rule.text + " " + std::string(place));
            return answer;
        };
    };
    const auto move = [&](const std::string& from, const std::string& to, std::vector<std::string>& rules,
                          bool answer) {
        return judge_rename(kGlobs, {at(from, Kind::directory), at(to, Kind::missing), 0, never, never,
                                     asked(rules, answer), never_matches});
    };
    EXPECT_EQ(judge_open(kGlobs, O_CREAT, at("/w/d/x.pem", Kind::missing)), denied("pem"));
    EXPECT_EQ(judge_make(kGlobs, Kind::symlink, at("/w/x.pem", Kind::missing)), denied("pem"));
    EXPECT_EQ(judge_make(kGlobs, Kind::symlink, at("/w/conf", Kind::missing)), perform());
    std::vector<std::string> rules;
    EXPECT_EQ(move("/w/a", "/w/b", rules, true), perform());
    EXPECT_TRUE(rules.empty());  // neither can match there what it did not match before
    EXPECT_EQ(move("/w/a", "/w/conf", rules, true), denied("conf"));
    EXPECT_EQ(rules, std::vector<std::string>{"conf /w/conf"});
    EXPECT_EQ(move("/w/a", "/w/conf", rules, false), perform());
    rules.clear();
    EXPECT_EQ(move("/w/conf", "/w/a", rules, true), denied("conf"));
    EXPECT_EQ(rules, std::vector<std::string>{"conf /w/conf"});
    EXPECT_EQ(move("/w/conf", "/w/a", rules, false), perform());
    rules.clear();
    EXPECT_EQ(move("/w/a", "/w/d.pem", rules, false), denied("pem"));
}

TEST(JudgeExecution, ProgramsAndWhatLoadersMap) {
    wire::AccessRules rules{{{Access::allow_write, "/w", "root", {}, false},
                             {Access::allow_execute, "/usr/bin/git", "git", {}, false},
                             {Access::allow_execute, "/w/tool", "tool", {}, false}}};
    EXPECT_EQ(judge_execute(rules, at("/usr/bin/id", Kind::file)), proceed());
    rules.restrict_execute = true;
    EXPECT_EQ(judge_execute(rules, at("/usr/bin/git", Kind::file)), proceed());
    EXPECT_EQ(judge_execute(rules, at("/usr/bin/id", Kind::file)), denied("allowExecute"));
    EXPECT_EQ(judge_execute(rules, at("", Kind::file)), denied("allowExecute"));
    EXPECT_EQ(judge_execute(rules, at("/usr/bin", Kind::directory)), proceed());
    EXPECT_EQ(judge_execute(rules, at("/usr/bin/none", Kind::missing)), proceed());
    constexpr bool kProgram = true;
    constexpr bool kLibrary = false;
    EXPECT_EQ(judge_map(rules, at("/lib/libc.so.6", Kind::file), kLibrary), proceed());
    EXPECT_EQ(judge_map(rules, at("/usr/bin/id", Kind::file), kProgram), denied("allowExecute"));
    EXPECT_EQ(judge_map(rules, at("/usr/bin/git", Kind::file), kProgram), proceed());
    EXPECT_EQ(judge_map(rules, at("/w/evil.so", Kind::file), kLibrary), denied("allowExecute"));
    EXPECT_EQ(judge_map(rules, at("/w/tool", Kind::file), kLibrary), proceed());
    EXPECT_EQ(judge_map(rules, at("", Kind::file), kLibrary), denied("allowExecute"));
    Site stream = at("/lib/libc.so.6", Kind::file);
    stream.foreign = true;
    EXPECT_EQ(judge_map(rules, stream, kLibrary), denied("allowExecute")) << "the command can write it";
}

// A session that may make /n/.git: what it makes must not be changed through a path that is exchanged in time.
const wire::AccessRules kInit{{{Access::allow_write, "/n", "root", {}, false},
                               {Access::new_repository, "/n/.git", "init", {}, false},
                               {Access::deny_after_init, "/n/.git/config", "config", {}, false},
                               {Access::deny_write, "/n/.git/commondir", "commondir", {}, false}},
                              true};

Site initial(const std::string& place, Kind kind) {
    Site site{place, kind};
    site.initial = true;
    return site;
}

TEST(JudgeInit, TheDirectoryItself) {
    EXPECT_EQ(judge_make(kInit, Kind::directory, at("/n/.git", Kind::missing)), denied("init"));
    EXPECT_EQ(judge_make(kInit, Kind::directory, initial("/n/.git", Kind::missing)), perform());
    EXPECT_EQ(judge_make(kInit, Kind::symlink, at("/n/.git", Kind::missing)), denied("init"));
    EXPECT_EQ(judge_open(kInit, O_WRONLY | O_CREAT, at("/n/.git", Kind::missing)), denied("init"));
    EXPECT_EQ(judge_open(kInit, O_WRONLY | O_CREAT, at("/n/.git/HEAD", Kind::missing)), perform());
    const Rename moved{at("/n/d", Kind::directory), at("/n/.git", Kind::missing), 0,    never,
                       never,                       never_matches,                never_matches};
    EXPECT_EQ(judge_rename(kInit, moved), denied("init"));
}

TEST(JudgeMode, IsNeverLeftToTheKernel) {
    Site log = at("/n/log", Kind::file);
    EXPECT_EQ(judge_mode(kInit, log, 0640), perform());
    log.foreign = true;
    EXPECT_EQ(judge_mode(kInit, log, 0640), perform()) << "a root shows the host's own files";
    Site other{"/tmp/log", Kind::file};
    const wire::AccessRules own{{{Access::private_write, "/tmp", "", {}, false}}, true};
    EXPECT_EQ(judge_mode(own, other, 0640), perform());
    other.foreign = true;
    EXPECT_EQ(judge_mode(own, other, 0640).error, EROFS);
    EXPECT_EQ(judge_mode(own, other, 0640).decision, Decision::deny);
    EXPECT_EQ(judge_mode(own, Site{"/tmp/none", Kind::missing}, 0640).error, ENOENT);
    EXPECT_EQ(judge_mode(own, Site{"", Kind::file}, 0640), perform()) << "a pipe has no place";
    const wire::AccessRules hooks{{{Access::allow_write, "/n", "", {}, false},
                                   {Access::deny_write, "/n/r/.git/hooks", "hooks", {}, false}},
                                  true};
    for (const char* above : {"/n", "/n/r", "/n/r/.git"}) {
        for (const unsigned mode : {0755U, 0500U, 0700U, 01777U})
            EXPECT_EQ(judge_mode(hooks, at(above, Kind::directory), mode), perform()) << above << mode;
        for (const unsigned mode : {0311U, 0600U, 0U, 0277U})
            EXPECT_EQ(judge_mode(hooks, at(above, Kind::directory), mode), denied("hooks")) << above << mode;
    }
    EXPECT_EQ(judge_mode(hooks, at("/n/other", Kind::directory), 0), perform());
    EXPECT_EQ(judge_mode(hooks, at("/n/r", Kind::file), 0), perform());
    Site unlinked{"", Kind::file};
    unlinked.foreign = true;
    EXPECT_EQ(judge_mode(own, unlinked, 0640).decision, Decision::deny);
    EXPECT_EQ(judge_mode(own, unlinked, 0640).error, EROFS);
}

TEST(JudgeAttribute, ClosesNoDirectoryAboveAProtectedPlace) {
    const wire::AccessRules hooks{{{Access::allow_write, "/n", "", {}, false},
                                   {Access::deny_write, "/n/r/.git/hooks", "hooks", {}, false}},
                                  true};
    EXPECT_EQ(judge_attribute(hooks, at("/n/r", Kind::directory), {}), perform()) << "it says nothing of rights";
    EXPECT_EQ(judge_attribute(hooks, at("/n/r", Kind::directory), 0700), perform());
    EXPECT_EQ(judge_attribute(hooks, at("/n/r", Kind::directory), 0300), denied("hooks"));
    EXPECT_EQ(judge_attribute(hooks, at("/n/other", Kind::directory), 0), perform());
    EXPECT_EQ(judge_attribute(hooks, at("/n/r/.git/hooks", Kind::directory), {}), denied("hooks"));
    EXPECT_EQ(judge_attribute(hooks, at("/n/link", Kind::symlink), {}), perform()) << "the kernel has its reasons";
    EXPECT_EQ(judge_attribute(hooks, at("/n/none", Kind::missing), {}).error, ENOENT);
    EXPECT_EQ(judge_attribute(hooks, at("/m", Kind::file), {}).error, EROFS);
}

TEST(JudgeArrival, NoLinkStandsBeforeAGlob) {
    const wire::AccessRules rules{{{Access::allow_write, "/n", "root", {}, false},
                                   {Access::deny_write, "/n/conf", "glob", "*.json", false},
                                   {Access::deny_write, "/n", "everywhere", "**/*.key", false}},
                                  true};
    EXPECT_EQ(judge_make(rules, Kind::symlink, at("/n/conf", Kind::missing)), denied("glob"));
    EXPECT_EQ(judge_make(rules, Kind::symlink, at("/n/other", Kind::missing)), perform());
    EXPECT_EQ(judge_make(rules, Kind::directory, at("/n/conf", Kind::missing)), perform());
}

TEST(JudgeInit, Settings) {
    EXPECT_EQ(judge_change(kInit, at("/n/.git/config", Kind::file)), denied("config"));
    EXPECT_EQ(judge_mode(kInit, initial("/n/.git/config", Kind::file), 0640), perform());
    EXPECT_EQ(judge_remove(kInit, initial("/n/.git/commondir", Kind::file)), denied("commondir"));
    Rename moved{at("/n/.git/config.lock", Kind::file), at("/n/.git/config", Kind::file), 0,    never,
                 never,                                 never_matches,                   never_matches};
    EXPECT_EQ(judge_rename(kInit, moved), denied("config"));
    moved.to.initial = true;
    EXPECT_EQ(judge_rename(kInit, moved), perform());
}

TEST(JudgeInit, ExistingFilesAreOpenedOnBehalf) {
    for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT})
        EXPECT_EQ(judge_open(kInit, static_cast<std::uint64_t>(flags), at("/n/f", Kind::file)), perform()) << flags;
    EXPECT_EQ(judge_open(kInit, O_TMPFILE | O_WRONLY, at("/n", Kind::directory)), perform());
    EXPECT_EQ(judge_open(kInit, O_WRONLY, at("/n/fifo", Kind::fifo)), perform());
    EXPECT_EQ(judge_open(kInit, O_RDONLY | O_TRUNC, at("/n/fifo", Kind::fifo)), proceed())
        << "that writes nothing, and may wait";
    EXPECT_EQ(judge_open(kNothingDenied, O_WRONLY, at("/w/fifo", Kind::fifo)), proceed());
    EXPECT_EQ(judge_open(kInit, O_RDONLY, at("/n/f", Kind::file)), proceed());
    EXPECT_EQ(judge_open(kInit, O_WRONLY, at("/n/f", Kind::device)), proceed());
    EXPECT_EQ(judge_open(kInit, O_WRONLY, at("/n/.git/config", Kind::file)), denied("config"));
    EXPECT_EQ(judge_open(kInit, O_WRONLY, at("/etc/f", Kind::file)), outside());
    EXPECT_EQ(judge_truncate(kInit, at("/n/f", Kind::file)), perform());
    EXPECT_EQ(judge_truncate(kNothingDenied, at("/w/f", Kind::file)), proceed());
    EXPECT_EQ(judge_change(kInit, at("/n/f", Kind::file)), proceed());
}

}  // namespace
}  // namespace sandpipe::launcher
