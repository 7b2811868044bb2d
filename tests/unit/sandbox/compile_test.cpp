#include "sandbox/policy/compile.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "fake_path_facts.hpp"
#include "sandbox/policy/mandatory_denies.hpp"
#include "sandbox/policy/mount_layout.hpp"
#include "sandbox/policy/policy_entries.hpp"
#include "simulated_mounts.hpp"
#include "support/mentions.hpp"
#include "wire/messages.hpp"

namespace sandpipe {
namespace {

using test::FakePathFacts;
using test::SimulatedMounts;
using wire::MountOp;
using wire::MountStep;
using Paths = std::vector<PathPattern>;

/// The policy of one case, in the order of the shorthand in the case tables.
struct Lists {
    Paths deny_read;
    Paths allow_read;
    Paths allow_write;
    Paths deny_write;
};

SandboxPolicy policy_of(const Lists& lists) {
    SandboxPolicy policy;
    policy.filesystem.deny_read = lists.deny_read;
    policy.filesystem.allow_read = lists.allow_read;
    policy.filesystem.allow_write = lists.allow_write;
    policy.filesystem.deny_write = lists.deny_write;
    return policy;
}

std::string text_of(const CompiledPolicy& compiled) {
    return wire::encode(wire::MakeCell{compiled.plan}) + "\n" +
           ::testing::PrintToString(compiled.create_directories);
}

/// Compiles, and checks on the way that the lists give the same plan in reverse.
CompiledPolicy compile_both_ways(SandboxPolicy policy, const FakePathFacts& facts,
                                 const std::string& workspace = "/w") {
    CompiledPolicy compiled = compile(policy, workspace, "/home/u", facts);
    FilesystemPolicy& lists = policy.filesystem;
    for (Paths* list : {&lists.deny_read, &lists.allow_read, &lists.allow_write, &lists.deny_write})
        std::reverse(list->begin(), list->end());
    std::reverse(lists.devices.begin(), lists.devices.end());
    EXPECT_EQ(text_of(compile(policy, workspace, "/home/u", facts)), text_of(compiled));
    return compiled;
}

CompiledPolicy compile_lists(const Lists& lists, const FakePathFacts& facts,
                             const std::string& workspace = "/w") {
    return compile_both_ways(policy_of(lists), facts, workspace);
}

Error error_of(const SandboxPolicy& policy, const FakePathFacts& facts, const std::string& workspace = "/w",
               const std::string& home = "/home/u") {
    try {
        (void)compile(policy, workspace, home, facts);
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return Error(Errc::sandbox_failed, "");
}

bool warns_of(const CompiledPolicy& compiled, const std::string& part) {
    return std::any_of(compiled.warnings.begin(), compiled.warnings.end(),
                       [&](const std::string& warning) { return mentions(warning, part); });
}

View view(const CompiledPolicy& compiled, const std::string& place) {
    return SimulatedMounts(compiled.plan.mounts).at(place);
}

std::vector<const MountOp*> mounts_at(const CompiledPolicy& compiled, const std::string& place) {
    std::vector<const MountOp*> found;
    for (const MountOp& op : compiled.plan.mounts)
        if (op.path == place) found.push_back(&op);
    return found;
}

struct ViewCase {
    const char* name;
    Lists lists;
    std::vector<std::pair<const char*, View>> views;
};

constexpr View kReadOnly = View::host_read_only;
constexpr View kWritable = View::host_writable;
constexpr View kMasked = View::masked;
constexpr View kOwnTmp = View::own_tmp;

TEST(Compile, MountsMakeTheRulesTrue) {
    FakePathFacts facts;
    facts.file("/w/.env")
        .file("/w/a/x")
        .file("/w/a/b/c/d/e")
        .directory("/w/[WIP]")
        .directory("/etc/ssl/private");
    facts.file("/home/u/.ssh/id").file("/home/u/.gnupg/ring").directory("/tmp/p/q").file("/tmp/secret");
    facts.link("/w/l", "a").link("/w/ssl", "/etc/ssl/private").link("/w/up", "../w/a/b").directory("/data");
    const std::vector<ViewCase> cases{
        {"nothing", {}, {{"/", kReadOnly}, {"/w", kReadOnly}, {"/tmp", kOwnTmp}, {"/tmp/p/q", kOwnTmp}}},
        {"write the workspace",
         {{}, {}, {"."}, {}},
         {{"/w", kWritable}, {"/w/a/x", kWritable}, {"/data", kReadOnly}}},
        {"deny a file", {{}, {}, {"."}, {".env"}}, {{"/w", kWritable}, {"/w/.env", kReadOnly}}},
        {"deny beats allow below", {{}, {}, {".", "a/b"}, {"a"}}, {{"/w", kWritable}, {"/w/a/b", kReadOnly}}},
        {"deny at the same place", {{}, {}, {"."}, {"."}}, {{"/w", kReadOnly}}},
        {"deny above", {{}, {}, {"a"}, {"."}}, {{"/w/a", kReadOnly}}},
        {"denied read in a denied write",
         {{"/w/.env"}, {}, {"/w"}, {"/w"}},
         {{"/w", kReadOnly}, {"/w/.env", kMasked}}},
        {"denied read", {{"~/.ssh"}, {}, {"."}, {}}, {{"/home/u/.ssh/id", kMasked}, {"/home/u", kReadOnly}}},
        {"all below",
         {{"~/.gnupg/**"}, {}, {"/w/**"}, {}},
         {{"/home/u/.gnupg/ring", kMasked}, {"/w/a", kWritable}}},
        {"hole",
         {{"/home"}, {"~/.gnupg"}, {}, {}},
         {{"/home/u/.ssh/id", kMasked}, {"/home/u/.gnupg/ring", kReadOnly}}},
        {"hole in a root", {{"a"}, {"a/b"}, {"."}, {}}, {{"/w/a/x", kMasked}, {"/w/a/b/c", kWritable}}},
        {"three levels",
         {{"a", "a/b/c"}, {"a/b", "a/b/c/d"}, {}, {}},
         {{"/w/a/x", kMasked}, {"/w/a/b", kReadOnly}, {"/w/a/b/c", kMasked}, {"/w/a/b/c/d/e", kReadOnly}}},
        {"three levels of a root",
         {{"a", "a/b/c"}, {"a/b", "a/b/c/d"}, {"."}, {"a/b/c/d/e"}},
         {{"/w", kWritable},
          {"/w/a/x", kMasked},
          {"/w/a/b", kWritable},
          {"/w/a/b/c", kMasked},
          {"/w/a/b/c/d", kWritable},
          {"/w/a/b/c/d/e", kReadOnly}}},
        {"tie", {{"a"}, {"a"}, {}, {}}, {{"/w/a/x", kMasked}}},
        {"a grant does not lift a denied read", {{"a"}, {}, {"a/b"}, {}}, {{"/w/a/b", kMasked}}},
        {"link", {{"l"}, {}, {"."}, {}}, {{"/w/a/x", kMasked}}},
        {"link out of the grants", {{"ssl"}, {}, {"."}, {}}, {{"/etc/ssl/private", kMasked}}},
        {"through links",
         {{"/proc/self/../../w/./up/../b//c"}, {}, {"."}, {}},
         {{"/w/a/b/c", kMasked}, {"/w/a/b", kWritable}}},
        {"granted in /tmp", {{}, {}, {"/tmp/p/q"}, {}}, {{"/tmp/p/q", kWritable}, {"/tmp/p", kOwnTmp}}},
        {"shown in /tmp",
         {{}, {"/tmp/p"}, {"/tmp/p/q"}, {}},
         {{"/tmp/p", kReadOnly}, {"/tmp/p/q", kWritable}}},
        {"denied in /tmp", {{"/tmp/secret"}, {}, {}, {}}, {{"/tmp/secret", kMasked}, {"/tmp", kOwnTmp}}},
        {"all of /tmp",
         {{}, {}, {"/tmp"}, {"/tmp/secret"}},
         {{"/tmp", kWritable}, {"/tmp/p", kWritable}, {"/tmp/secret", kReadOnly}}},
        {"no /tmp at all", {{"/tmp"}, {"/tmp/p"}, {}, {}}, {{"/tmp/secret", kMasked}, {"/tmp/p", kReadOnly}}},
    };
    for (const ViewCase& c : cases) {
        SCOPED_TRACE(c.name);
        const CompiledPolicy compiled = compile_lists(c.lists, facts);
        for (const auto& [place, expected] : c.views)
            EXPECT_EQ(static_cast<int>(view(compiled, place)), static_cast<int>(expected)) << place;
    }
}

TEST(Compile, GlobsCoverWhatExistsAndJudgeWhatComes) {
    FakePathFacts facts;
    facts.file("/w/a.pem").file("/w/.pem").file("/w/d/e/b.pem").directory("/w/d/x.pem/y").file("/w/d/c.key");
    facts.file("/out/z.pem").file("/home/u/k1").file("/home/u/k2").directory("/w/[WIP]").file("/w/W");
    facts.file("/w/keep/k.pem").link("/w/l.pem", "/etc/cert").file("/etc/cert").link("/w/astray.pem", "/w");
    const CompiledPolicy compiled =
        compile_lists({{"**/*.pem", "~/k?"}, {"keep/k.pem", "d"}, {"."}, {"**/*.key", "[WIP]"}}, facts);
    const wire::AccessRules& rules = compiled.plan.rules;
    for (const char* place :
         {"/w/a.pem", "/w/.pem", "/w/d/e/b.pem", "/w/d/x.pem/y", "/home/u/k2", "/etc/cert"}) {
        EXPECT_EQ(view(compiled, place), kMasked) << place;
        EXPECT_FALSE(rules.read(place).allowed) << place;
    }
    for (const char* place : {"/w/d/c.key", "/w/W", "/w/[WIP]"}) {
        EXPECT_EQ(view(compiled, place), kReadOnly) << place;
        EXPECT_EQ(rules.write(place).error, EACCES) << place;
    }
    for (const char* place : {"/w/keep/k.pem", "/w/d/e"})
        EXPECT_EQ(view(compiled, place), kWritable) << place;
    EXPECT_EQ(view(compiled, "/out/z.pem"), kReadOnly);
    EXPECT_EQ(rules.write("/w/new/later.pem").rule, "denyRead **/*.pem");
    EXPECT_EQ(rules.write("/w/new/later.key").rule, "denyWrite **/*.key");
    EXPECT_TRUE(rules.write("/w/new/later").allowed);
    EXPECT_FALSE(rules.protected_below("/w/d/e").empty());
    EXPECT_TRUE(mounts_at(compiled, "/w/d/x.pem/y").empty());
    EXPECT_FALSE(rules.write("/w/l.pem").allowed);
    EXPECT_TRUE(
        warns_of(compiled, "/w/astray.pem leads to /w, which is granted; only the link is protected"));
}

TEST(Compile, PlantedLinksOfDeniedNamesAreNotAllWarnedOf) {
    FakePathFacts facts;
    for (int i = 0; i < 50; ++i) facts.link("/w/d" + std::to_string(i) + "/.mcp.json", "..");
    FilesystemPolicy filesystem;
    filesystem.allow_write = {"."};
    SandboxPolicy policy;
    policy.filesystem = filesystem;
    const CompiledPolicy compiled = compile(policy, "/w", "/home/u", facts);
    EXPECT_EQ(compiled.warnings.size(), 11U);
    EXPECT_TRUE(warns_of(compiled, "40 more names that are always denied lead elsewhere, or have other names"));
}

TEST(Compile, GlobsThatAllowAreAboutWhatExists) {
    FakePathFacts facts;
    facts.directory("/w/build-1").file("/w/build-2").directory("/secret/pub-a").file("/secret/key");
    facts.link("/w/build-3", "/secret").directory("/w/[WIP]");
    const CompiledPolicy compiled =
        compile_lists({{"/secret"}, {"/secret/pub-*"}, {"build-*", "[WIP]"}, {}}, facts);
    for (const char* place : {"/w/build-1", "/w/build-2", "/w/[WIP]"})
        EXPECT_EQ(view(compiled, place), kWritable);
    EXPECT_EQ(view(compiled, "/w"), kReadOnly);
    EXPECT_EQ(view(compiled, "/secret/pub-a"), kReadOnly);
    EXPECT_EQ(view(compiled, "/secret/key"), kMasked);
    EXPECT_FALSE(compiled.plan.rules.write("/w/build-4").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/secret/x").allowed);
    EXPECT_TRUE(warns_of(compiled, "/w/build-3 is a symbolic link, which no glob grants"));
}

TEST(Compile, AnAllowWriteGlobThatMatchesNothing) {
    FakePathFacts facts;
    SandboxPolicy policy = policy_of({{}, {"x*"}, {"out-*"}, {}});
    for (const MissingAllowWrite missing : {MissingAllowWrite::error, MissingAllowWrite::create}) {
        policy.filesystem.missing_allow_write = missing;
        EXPECT_TRUE(
            mentions(error_of(policy, facts).text(), "filesystem.allowWrite[0]: \"out-*\" matches nothing"));
    }
    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    const CompiledPolicy skipped = compile_both_ways(policy, facts);
    EXPECT_TRUE(warns_of(skipped, "filesystem.allowWrite[0]"));
    EXPECT_TRUE(warns_of(skipped, "filesystem.allowRead[0]"));
}

TEST(Compile, GlobsSeeNothingOfTheHostsTmp) {
    FakePathFacts facts;
    facts.file("/tmp/a.pem").file("/tmp/shown/b.pem");
    const CompiledPolicy compiled = compile_lists({{"/tmp/**/*.pem"}, {"/tmp/shown"}, {}, {}}, facts);
    EXPECT_TRUE(mounts_at(compiled, "/tmp/a.pem").empty());
    EXPECT_EQ(view(compiled, "/tmp/shown/b.pem"), kMasked);
    EXPECT_FALSE(compiled.plan.rules.write("/tmp/new.pem").allowed);
}

// A11: denying the directory above leaves the workspace, and in /tmp too.
TEST(Compile, WorkspaceInADeniedDirectoryStarts) {
    for (const std::string above : {"/v", "/tmp/v"}) {
        FakePathFacts facts;
        facts.directory(above + "/p").file(above + "/other/secret");
        const CompiledPolicy compiled = compile_lists({{".."}, {"."}, {}, {}}, facts, above + "/p");
        EXPECT_EQ(view(compiled, above + "/p"), kReadOnly);
        EXPECT_EQ(view(compiled, above + "/other/secret"), kMasked);
        ASSERT_EQ(mounts_at(compiled, above).size(), 1U);
        EXPECT_EQ(mounts_at(compiled, above)[0]->step, MountStep::mask_with_holes);
        EXPECT_TRUE(compiled.warnings.empty());
    }
}

TEST(Compile, WorkspaceInTmpIsShownUnlessDenied) {
    FakePathFacts facts;
    facts.directory("/tmp/p");
    const CompiledPolicy shown = compile_lists({}, facts, "/tmp/p");
    EXPECT_EQ(view(shown, "/tmp/p"), kReadOnly);
    const CompiledPolicy denied = compile_lists({{"."}, {}, {}, {}}, facts, "/tmp/p");
    EXPECT_EQ(view(denied, "/tmp/p"), kMasked);
    EXPECT_TRUE(warns_of(denied, "no command can start in the workspace"));
    const CompiledPolicy tmp_itself = compile_lists({}, facts, "/tmp");
    EXPECT_EQ(view(tmp_itself, "/tmp"), kOwnTmp);
}

// For every policy the mounts, carried out one by one, show what the rules say, in whatever order it is
// written.
TEST(Compile, MountsAndRulesAgreeForRandomPolicies) {
    FakePathFacts facts;
    const std::vector<std::string> pool{"/w/*",    "**/b",   "/w/**/[bf]",    "/data/?",   "/tmp/*",
                                        "/w",      "/w/a",   "/w/a/b",        "/w/a/b/c",  "/w/a/f",
                                        "/w/n",    "/w/n/m", "/tmp",          "/tmp/a",    "/tmp/a/b",
                                        "/tmp/f",  "/data",  "/data/a",       "/data/a/b", "/w/l",
                                        "/w/a/up", "/tmp/l", "/w/.git/hooks", "/home",     "/home/u/x"};
    facts.directory("/w/a/b/c").file("/w/a/f").directory("/tmp/a/b").file("/tmp/f").directory("/data/a/b");
    facts.link("/w/l", "/data/a")
        .link("/w/a/up", "..")
        .link("/tmp/l", "a")
        .directory("/w/.git/hooks")
        .file("/home/u/x");
    std::mt19937 random(20240229);
    const auto some = [&] {
        Paths list;
        for (std::size_t count = random() % 4; count > 0; --count)
            list.emplace_back(pool[random() % pool.size()]);
        return list;
    };
    for (int round = 0; round < 300; ++round) {
        SandboxPolicy policy = policy_of({some(), some(), some(), some()});
        policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
        const CompiledPolicy compiled = compile_both_ways(policy, facts);
        SCOPED_TRACE(policy.filesystem.deny_read.size());
        MountInput input;
        input.tmp = "/tmp";
        for (const wire::AccessRule& rule : compiled.plan.rules.all())
            if (rule.access != wire::Access::private_write) input.rules.add(rule);
        const SimulatedMounts mounts(compiled.plan.mounts);
        for (const std::string& place : facts.places()) {
            if (wire::holds("/dev", place)) continue;
            // What a glob denies in the host's /tmp is out of sight already.
            const View seen = mounts.at(place);
            if (seen == kOwnTmp && view_of(input, place) == kMasked) continue;
            ASSERT_EQ(static_cast<int>(seen), static_cast<int>(view_of(input, place))) << place;
        }
    }
}

TEST(Compile, MissingDeniedPathHasARuleAndNoMount) {
    FakePathFacts facts;
    const CompiledPolicy compiled = compile_lists({{"no/read"}, {}, {"."}, {"new.conf", "/nope/x"}}, facts);
    EXPECT_TRUE(mounts_at(compiled, "/w/new.conf").empty());
    EXPECT_TRUE(mounts_at(compiled, "/w/no/read").empty());
    EXPECT_EQ(compiled.plan.rules.write("/w/new.conf").rule, "denyWrite new.conf");
    EXPECT_EQ(compiled.plan.rules.write("/w/no/read/x").rule, "denyRead no/read");
    EXPECT_TRUE(compiled.plan.rules.write("/w/no/other").allowed);
    EXPECT_TRUE(compiled.create_directories.empty());
}

TEST(Compile, LinkAndItsTargetAreProtected) {
    FakePathFacts facts;
    facts.file("/nix/rc")
        .link("/w/rc", "/nix/rc")
        .link("/w/a", "b")
        .file("/w/b/x")
        .link("/w/dangling", "gone/x");
    facts.link("/w/loop", "loop").link("/w/.git", "/repos/a.git").directory("/repos/a.git/hooks");
    const CompiledPolicy compiled =
        compile_lists({{}, {}, {"."}, {"rc", "a/x", "dangling", "loop/x", "gone/../y"}}, facts);
    const wire::AccessRules& rules = compiled.plan.rules;
    for (const char* place : {"/w/rc", "/w/a", "/w/b/x", "/w/dangling", "/w/gone/x", "/w/loop", "/w/loop/x",
                              "/w/y", "/w/gone", "/w/.git"})
        EXPECT_EQ(rules.write(place).error, EACCES) << place;
    EXPECT_EQ(rules.write("/nix/rc").rule, "denyWrite rc");
    EXPECT_EQ(rules.write("/repos/a.git/hooks/pre-commit").rule, ".git/hooks (always denied)");
    EXPECT_TRUE(rules.write("/w/b/y").allowed);
    EXPECT_TRUE(mounts_at(compiled, "/w/rc").empty());
    EXPECT_TRUE(warns_of(compiled, "cannot be looked at"));
}

// Otherwise a command could send the next session's grant to another place.
TEST(Compile, LinkToAGrantCannotBeReplaced) {
    FakePathFacts facts;
    facts.directory("/data").link("/home/u/out", "/data").link("/w/in", "dir").directory("/w/dir");
    const CompiledPolicy compiled = compile_lists({{}, {}, {".", "in", "~/out"}, {}}, facts);
    for (const char* link : {"/home/u/out", "/w/in"}) EXPECT_FALSE(compiled.plan.rules.write(link).allowed) << link;
    EXPECT_TRUE(compiled.plan.rules.write("/data/x").allowed);
    EXPECT_EQ(compiled.plan.rules.writable_roots(), (std::vector<std::string>{"/data", "/w", "/w/dir"}));
}

TEST(Compile, LinkToADeviceLeavesTheDevice) {
    FakePathFacts facts;
    facts.link("/home/u/.history", "/dev/null").link("/w/.bashrc", "/dev/null");
    const CompiledPolicy compiled = compile_lists({{"~/.history"}, {}, {"."}, {}}, facts);
    EXPECT_TRUE(compiled.plan.rules.write("/dev/null").allowed);
    EXPECT_TRUE(compiled.plan.rules.read("/dev/null").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/home/u/.history").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/w/.bashrc").allowed);
    EXPECT_TRUE(mounts_at(compiled, "/dev/null").empty());
}

TEST(Compile, MissingAllowWrite) {
    FakePathFacts facts;
    SandboxPolicy policy = policy_of({{}, {}, {".", "out/new"}, {}});
    const Error error = error_of(policy, facts);
    EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
    EXPECT_TRUE(mentions(error.text(), "filesystem.allowWrite[1]: \"/w/out/new\" does not exist"))
        << error.text();

    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    const CompiledPolicy skipped = compile_both_ways(policy, facts);
    EXPECT_TRUE(warns_of(skipped, "does not exist and is not granted"));
    EXPECT_EQ(skipped.plan.rules.writable_roots(), std::vector<std::string>{"/w"});

    policy.filesystem.allow_write = {"/v/out"};
    policy.filesystem.missing_allow_write = MissingAllowWrite::create;
    const CompiledPolicy created = compile_both_ways(policy, facts);
    EXPECT_EQ(created.create_directories, std::vector<std::string>{"/v/out"});
    EXPECT_EQ(view(created, "/v/out"), kWritable);
    EXPECT_FALSE(created.plan.rules.write("/v/out/.bashrc").allowed);
}

TEST(Compile, WhatCannotBeGrantedOrDeniedIsAnError) {
    FakePathFacts facts;
    facts.unreachable("/root")
        .directory("/proc/sys")
        .directory("/sys/fs")
        .link("/w/everything", "/")
        .directory("/dev/shm/x");
    struct Case {
        Lists lists;
        const char* where;
    };
    const std::vector<Case> cases{
        {{{}, {}, {"/"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/**"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {".", "everything"}, {}}, "filesystem.allowWrite[1]"},
        {{{}, {}, {"/proc/sys"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/sys"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/sys/fs"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/dev"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/dev/sda"}, {}}, "filesystem.devices"},
        {{{}, {}, {"/dev/shm/x"}, {}}, "filesystem.allowWrite[0]"},
        {{{}, {}, {"/root/x"}, {}}, "cannot be looked at"},
        {{{"/"}, {}, {}, {}}, "filesystem.denyRead[0]"},
        {{{}, {}, {}, {"/w/.."}}, "filesystem.denyWrite[0]"},
        {{{"/proc/sys"}, {}, {}, {}}, "filesystem.denyRead[0]"},
    };
    for (const Case& c : cases) {
        const Error error = error_of(policy_of(c.lists), facts);
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        EXPECT_TRUE(mentions(error.text(), c.where)) << error.text();
    }
    // Twins: what nobody has to grant may stand in the lists all the same.
    EXPECT_NO_THROW(compile_lists({{"/root/x"},
                                   {"/dev/tty", "/lib64", "/nope"},
                                   {".", "/dev/null", "/dev/stdout", "/dev/fd", "/dev/shm"},
                                   {"/root/x", "/proc/sys"}},
                                  facts));
}

TEST(Compile, ASessionNeedsADirectoryThatItsOwnTmpCovers) {
    FakePathFacts missing;
    missing.link("/tmp", "/nowhere");
    EXPECT_EQ(error_of({}, missing).text(), "/tmp leads to /nowhere, which is missing; make /tmp a directory");
    FakePathFacts file;
    file.file("/tmp");
    EXPECT_EQ(error_of({}, file).text(),
              "/tmp leads to /tmp, which is no directory that a session can have its own of; make /tmp a directory");
    EXPECT_EQ(error_of({}, file).errc(), Errc::sandbox_unsupported_env);
}

TEST(Compile, WorkspaceAndHome) {
    FakePathFacts facts;
    facts.file("/w/file").link("/l", "/w");
    for (const char* workspace : {"", "w", "/nope", "/w/file", "/dev/shm", "/proc"})
        EXPECT_EQ(error_of({}, facts, workspace).errc(), Errc::invalid_sandbox_config) << workspace;
    EXPECT_TRUE(mentions(error_of({}, facts, "/proc").text(), "has its own /dev and /proc; name another"));
    EXPECT_EQ(compile({}, "/l/./", "/home/u", facts).plan.workspace, "/w");
    EXPECT_TRUE(mentions(error_of(policy_of({{"~/x"}, {}, {}, {}}), facts, "/w", "").text(),
                         "filesystem.denyRead[0]"));
    EXPECT_EQ(compile({}, "/l", "", facts).git_safe_directories, std::vector<std::string>{"/w"});
}

TEST(Compile, VoidGrantsAndHardLinksAreWarnedOf) {
    FakePathFacts facts;
    facts.directory("/w/a/b").file("/w/s.txt", 2).file("/w/p.txt", 3).file("/w/once");
    const CompiledPolicy compiled =
        compile_lists({{"a", "s.txt", "once"}, {}, {".", "a/b"}, {"p.txt"}}, facts);
    EXPECT_TRUE(warns_of(compiled, "allowWrite a/b grants nothing: denyRead a prevails"));
    EXPECT_TRUE(warns_of(compiled, "/w/s.txt has 1 more hard link"));
    EXPECT_TRUE(warns_of(compiled, "/w/p.txt has 2 more hard link"));
    EXPECT_EQ(compiled.warnings.size(), 3U);
}

// For this process that name leads to the host's cwd, which no policy is about.
TEST(Compile, TheCwdThatProcTellsIsTheWorkspace) {
    FakePathFacts facts;
    facts.file("/w/a/k").file("/w/b").file("/w/cwdx").link("/proc/self/cwd", "/home");
    const CompiledPolicy compiled = compile_lists(
        {{"/proc/self/cwd/a", "//proc/./self//cwd/b", "/proc/thread-self/cwd/a/../cwdx"}, {}, {}, {}}, facts);
    for (const char* place : {"/w/a/k", "/w/b", "/w/cwdx"}) EXPECT_FALSE(compiled.plan.rules.read(place).allowed) << place;
    EXPECT_TRUE(compiled.plan.rules.read("/home/a").allowed);
    EXPECT_EQ(absolute_path("/proc/self/cwdx", "/w", "", "k"), "/proc/self/cwdx");
    EXPECT_EQ(absolute_path("/proc/self/cwd", "/w", "", "k"), "/w");
    EXPECT_EQ(absolute_path("/proc", "/w", "", "k"), "/proc");
}

TEST(Compile, FilesystemDisabledSwitchesOffTheFilesystemOnly) {
    SandboxPolicy policy = policy_of({{"/w/x"}, {}, {"/nope"}, {}});
    policy.filesystem.disabled = true;
    const CompiledPolicy off = compile(policy, "/w", "/home/u", FakePathFacts());
    ASSERT_EQ(off.plan.mounts.size(), 1U) << "the settings of the machine are no files";
    EXPECT_EQ(off.plan.mounts[0].step, MountStep::bind_read_only);
    EXPECT_EQ(off.plan.mounts[0].path, "/sys");
    EXPECT_FALSE(off.plan.rules.enabled);
    EXPECT_FALSE(off.plan.filesystem_enforced);
    EXPECT_TRUE(off.plan.own_network);
    policy = {};
    policy.network.disabled = true;
    const CompiledPolicy open = compile(policy, "/w", "/home/u", FakePathFacts());
    EXPECT_TRUE(open.plan.filesystem_enforced && open.plan.rules.enabled);
    EXPECT_FALSE(open.plan.own_network);
}

TEST(Compile, PoliciesBuiltInCppAreCheckedToo) {
    EXPECT_TRUE(
        mentions(error_of(policy_of({{"*/../x"}, {}, {}, {}}), FakePathFacts()).text(), "denyRead[0]"));
}

TEST(Compile, Devices) {
    FakePathFacts facts;
    facts.link("/dev/cd", "sda").file("/dev/plain");
    SandboxPolicy policy;
    policy.filesystem.devices = {"/dev/sda", "/dev/dri/card0", "/dev/null"};
    const CompiledPolicy compiled = compile_both_ways(policy, facts);
    ASSERT_EQ(mounts_at(compiled, "/dev").size(), 1U);
    EXPECT_EQ(mounts_at(compiled, "/dev")[0]->holes,
              (std::vector<std::string>{"/dev/dri/card0", "/dev/sda"}));
    EXPECT_EQ(mounts_at(compiled, "/dev")[0]->hole_is_directory, (std::vector<std::uint8_t>{0, 0}));
    EXPECT_TRUE(compiled.plan.rules.write("/dev/sda").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/dev/sdb").allowed);
    EXPECT_EQ(compiled.plan.rules.writable_roots(), std::vector<std::string>{});
    policy.filesystem.devices = {"/dev/dri", "/dev/sd*", "/dev/nvidia*"};
    const CompiledPolicy found = compile_both_ways(policy, facts);
    EXPECT_EQ(mounts_at(found, "/dev")[0]->holes, (std::vector<std::string>{"/dev/dri/card0", "/dev/sda"}));
    EXPECT_TRUE(warns_of(found, "\"nvidia*\" matches nothing in /dev"));
    for (const char* device : {"/dev/none", "/dev/cd", "/dev/plain", "/dev/../w"}) {
        policy.filesystem.devices = {device};
        EXPECT_TRUE(mentions(error_of(policy, facts).text(), "filesystem.devices[0]")) << device;
    }
    policy.filesystem.devices = {"/dev/dri/card0"};
    policy.filesystem.deny_write = {"/dev/dri"};
    EXPECT_EQ(error_of(policy, facts).errc(), Errc::sandbox_policy_conflict);
}

TEST(Compile, OwnPlacesAreWritableAndNoRoots) {
    const CompiledPolicy compiled = compile_lists({}, FakePathFacts());
    for (const char* place : {"/tmp/x", "/dev/null", "/dev/tty", "/dev/shm/x", "/dev/ptmx", "/dev/pts/0"})
        EXPECT_TRUE(compiled.plan.rules.write(place).allowed) << place;
    EXPECT_EQ(compiled.plan.rules.write("/w/x").error, EROFS);
    EXPECT_TRUE(compiled.plan.rules.writable_roots().empty());
    SandboxPolicy policy;
    policy.limits.tmp_bytes = 4096;
    const CompiledPolicy small = compile(policy, "/w", "/home/u", FakePathFacts());
    ASSERT_EQ(mounts_at(small, "/tmp").size(), 1U);
    EXPECT_EQ(mounts_at(small, "/tmp")[0]->bytes, 4096U);
    EXPECT_EQ(mounts_at(small, "/dev")[0]->bytes, 4096U) << "of /dev/shm";
    EXPECT_TRUE(warns_of(compile_lists({{"/tmp"}, {}, {}, {}}, FakePathFacts()), "TMPDIR"));
    EXPECT_FALSE(warns_of(compile_lists({{}, {}, {"/tmp"}, {}}, FakePathFacts()), "TMPDIR"));
}

TEST(MandatoryDenies, MissingOnesAreDeniedAtEachRoot) {
    FakePathFacts facts;
    facts.directory("/w/sub");
    const CompiledPolicy compiled = compile_lists({{}, {}, {".", "sub"}, {}}, facts);
    for (const std::string root : {"/w/", "/w/sub/"}) {
        for (const std::string_view name : kMandatoryDenies)
            EXPECT_EQ(compiled.plan.rules.write(root + std::string(name) + "/x").error, EACCES)
                << root << name;
        EXPECT_TRUE(mentions(compiled.plan.rules.write(root + ".git").rule, "allowGitInit"));
        EXPECT_TRUE(compiled.plan.rules.write(root + ".claude/settings.json").allowed);
    }
    EXPECT_EQ(compiled.plan.mounts.size(),
              5U);  // take, root, dev, tmp, place: nothing is made for what is missing
}

TEST(MandatoryDenies, ANewRepositoryMayBeMadeByOption) {
    FakePathFacts facts;
    facts.directory("/w/sub").file("/w/sub/.git").link("/w/other/.git", "/w/nothing");
    SandboxPolicy policy;
    policy.filesystem.allow_write = {"/w", "/w/sub", "/w/other"};
    policy.filesystem.allow_git_init = true;
    const wire::AccessRules rules = compile(policy, "/w", "/home/u", facts).plan.rules;
    ASSERT_NE(rules.new_repository("/w/.git"), nullptr);
    EXPECT_TRUE(rules.writes_on_behalf());
    EXPECT_EQ(rules.write("/w/.git").error, EACCES) << "by mkdir only";
    EXPECT_TRUE(rules.write("/w/.git", true).allowed);
    EXPECT_TRUE(rules.write("/w/.git/HEAD").allowed);
    for (const char* part : {"/w/.git/config", "/w/.git/hooks/a.sample"}) {
        EXPECT_EQ(rules.write(part).error, EACCES) << part;
        EXPECT_TRUE(rules.write(part, true).allowed) << part;
    }
    EXPECT_EQ(rules.write("/w/.git/commondir", true).error, EACCES);
    EXPECT_EQ(rules.write("/w/.bashrc", true).error, EACCES);
    for (const char* taken : {"/w/sub/.git", "/w/other/.git"}) {
        EXPECT_EQ(rules.new_repository(taken), nullptr) << taken;
        EXPECT_EQ(rules.write(taken, true).error, EACCES) << taken;
    }
}

TEST(MandatoryDenies, ExistingOnesAreDeniedAtAnyDepth) {
    FakePathFacts facts;
    facts.file("/w/d/e/.bashrc")
        .directory("/w/d/.vscode")
        .file("/w/d/.git/config")
        .directory("/w/d/.git/hooks");
    facts.file("/w/d/.git/objects/.profile").directory("/w/d/.claude/agents").file("/w/sub/.git");
    facts.file("/w/node_modules/p/.bashrc").link("/w/far", "/elsewhere").file("/elsewhere/.zshrc");
    const CompiledPolicy compiled = compile_lists({{}, {}, {"."}, {}}, facts);
    for (const char* place : {"/w/d/e/.bashrc", "/w/d/.vscode", "/w/d/.git/config", "/w/d/.git/hooks",
                              "/w/d/.claude/agents", "/w/sub/.git"}) {
        EXPECT_EQ(view(compiled, place), kReadOnly) << place;
        EXPECT_FALSE(compiled.plan.rules.write(place).allowed) << place;
    }
    for (const char* place :
         {"/w/d/.git", "/w/d/.git/objects/.profile", "/w/node_modules/p/.bashrc", "/w/d/e", "/w/far"})
        EXPECT_TRUE(compiled.plan.rules.write(place).allowed) << place;
    EXPECT_EQ(compiled.plan.rules.write("/w/d/.git/hooks/x").rule, ".git/hooks (always denied)");
    EXPECT_TRUE(mentions(compiled.plan.rules.write("/w/d/.git/config").rule, "allowGitConfig"));
    EXPECT_EQ(compiled.plan.rules.write("/elsewhere/.zshrc").error, EROFS);
}

TEST(MandatoryDenies, CanBeLiftedByName) {
    FakePathFacts facts;
    facts.directory("/w/.vscode").file("/w/.git/config").directory("/w/.git/hooks");
    SandboxPolicy policy = policy_of({{}, {}, {"."}, {}});
    policy.filesystem.mandatory_deny_except = {".vscode"};
    policy.filesystem.allow_git_config = true;
    const CompiledPolicy compiled = compile_both_ways(policy, facts);
    EXPECT_EQ(view(compiled, "/w/.vscode"), kWritable);
    EXPECT_EQ(view(compiled, "/w/.git/config"), kWritable);
    EXPECT_EQ(view(compiled, "/w/.git/hooks"), kReadOnly);
    EXPECT_FALSE(compiled.plan.rules.write("/w/.mcp.json").allowed);
}

TEST(MandatoryDenies, RootsThatAreOrOverlapADeniedPlace) {
    FakePathFacts facts;
    facts.directory("/w/.vscode/ext")
        .directory("/w/.git/hooks")
        .file("/w/.git/config")
        .file("/home/u/.bashrc");
    const CompiledPolicy compiled = compile_lists({{}, {}, {".vscode/ext", ".git", "~/.bashrc"}, {}}, facts);
    EXPECT_EQ(view(compiled, "/w/.vscode/ext"), kReadOnly);
    EXPECT_EQ(view(compiled, "/home/u/.bashrc"), kReadOnly);
    EXPECT_EQ(view(compiled, "/w/.git"), kWritable);
    EXPECT_EQ(view(compiled, "/w/.git/config"), kReadOnly);
    EXPECT_EQ(view(compiled, "/w/.git/hooks"), kReadOnly);
    EXPECT_TRUE(warns_of(compiled, "allowWrite ~/.bashrc grants nothing: .bashrc (always denied) prevails"));
}

TEST(MandatoryDenies, RootInNodeModulesIsSearched) {
    FakePathFacts facts;
    facts.file("/w/node_modules/p/d/.bashrc");
    const CompiledPolicy compiled = compile_lists({{}, {}, {".", "node_modules/p"}, {}}, facts);
    EXPECT_FALSE(compiled.plan.rules.write("/w/node_modules/p/d/.bashrc").allowed);
}

// A command may leave such links behind; the next session keeps its workspace.
TEST(MandatoryDenies, LinkToTheRootCostsOnlyTheLink) {
    FakePathFacts facts;
    facts.link("/w/d/.idea", "/w").link("/w/e/.vscode", "/").directory("/w/f");
    const CompiledPolicy compiled = compile_lists({{}, {}, {"."}, {}}, facts);
    EXPECT_TRUE(compiled.plan.rules.write("/w/f/x").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/w/d/.idea").allowed);
    EXPECT_FALSE(compiled.plan.rules.write("/w/e/.vscode").allowed);
    EXPECT_EQ(view(compiled, "/w/f"), kWritable);
}

SandboxPolicy executing(Paths programs, Paths writable) {
    SandboxPolicy policy = policy_of({{}, {}, std::move(writable), {}});
    policy.filesystem.restrict_execute = true;
    policy.filesystem.allow_execute = std::move(programs);
    return policy;
}

TEST(Execution, ProgramsTheirLoadersAndTheShell) {
    FakePathFacts facts;
    facts.program("/usr/bin/git", {true, false, true, "/lib64/ld.so"})
        .file("/usr/lib/ld.so")
        .link("/lib64", "/usr/lib");
    facts.program("/usr/bin/bash", {true, false, true, "/lib64/ld.so"})
        .link("/bin", "/usr/bin")
        .file("/usr/bin/id");
    facts.program("/opt/tools/a/musl", {true, false, true, "/usr/lib/musl.so"}).file("/usr/lib/musl.so");
    facts.program("/opt/script", {false, true, false, "/usr/bin/python"}).file("/usr/bin/python");
    const CompiledPolicy made = compile(executing({"/bin/git", "/opt/tools", "/opt/script", "/nope"}, {}),
                                        "/w", "/home/u", facts, "/bin/bash");
    const wire::AccessRules& rules = made.plan.rules;
    EXPECT_TRUE(rules.restrict_execute);
    for (const char* place :
         {"/usr/bin/git", "/usr/bin/bash", "/usr/lib/ld.so", "/opt/tools/a/musl", "/usr/lib/musl.so"})
        EXPECT_TRUE(rules.execute(place).allowed) << place;
    for (const char* place : {"/usr/bin/id", "/usr/bin/python", "/nope"})
        EXPECT_FALSE(rules.execute(place).allowed) << place;
    EXPECT_TRUE(
        warns_of(made, "/opt/script is a script of /usr/bin/python, which allowExecute does not list"));
    EXPECT_TRUE(warns_of(made, "filesystem.allowExecute[3]: \"/nope\" does not exist"));
    EXPECT_EQ(made.warnings.size(), 2U);
    EXPECT_EQ(error_of(executing({"/dev/null"}, {}), facts).errc(), Errc::invalid_sandbox_config);
}

TEST(Execution, WritableMountsAreNoexecUnlessAProgramStandsThere) {
    FakePathFacts facts;
    facts.file("/w/bin/tool").directory("/v").directory("/opt/x/out");
    const CompiledPolicy made =
        compile(executing({"bin", "/opt/x"}, {".", "/v", "/opt/x/out"}), "/w", "/home/u", facts);
    const auto noexec = [&](const std::string& place, MountStep step) {
        for (const MountOp* op : mounts_at(made, place))
            if (op->step == step) return op->noexec;
        ADD_FAILURE() << place;
        return false;
    };
    EXPECT_FALSE(noexec("/w", MountStep::place_writable));
    EXPECT_TRUE(noexec("/v", MountStep::place_writable));
    EXPECT_FALSE(noexec("/opt/x/out", MountStep::place_writable));
    EXPECT_TRUE(noexec("/tmp", MountStep::private_tmp));
    EXPECT_TRUE(noexec("/dev", MountStep::private_dev));
    SandboxPolicy kept = executing({"bin", "/opt/x"}, {".", "/v", "/opt/x/out"});
    kept.filesystem.deny_write = {"bin"};
    const CompiledPolicy read_only = compile(kept, "/w", "/home/u", facts);
    for (const MountOp& op : read_only.plan.mounts) {
        if (!op.path.starts_with("/w") || op.step == MountStep::take_tree) continue;
        EXPECT_EQ(op.noexec, op.path == "/w") << op.path << ": it has a mount of its own";
    }
    for (const MountOp& op : compile_lists({{}, {}, {"."}, {}}, facts).plan.mounts)
        EXPECT_FALSE(op.noexec) << op.path;
}

TEST(MandatoryDenies, RepositoriesWithinARepository) {
    FakePathFacts facts;
    facts.file("/w/.git/HEAD")
        .file("/w/.git/config")
        .directory("/w/.git/hooks")
        .file("/w/.git/config.worktree");
    for (const std::string module :
         {"/w/.git/modules/a", "/w/.git/modules/libs/b", "/w/.git/modules/a/modules/c"})
        facts.file(module + "/HEAD")
            .file(module + "/config")
            .directory(module + "/hooks")
            .directory(module + "/objects");
    facts.file("/w/.git/worktrees/t/commondir").file("/w/.git/worktrees/t/HEAD");
    const CompiledPolicy compiled = compile_lists({{}, {}, {"."}, {}}, facts);
    const wire::AccessRules& rules = compiled.plan.rules;
    for (const char* place : {"/w/.git/config.worktree", "/w/.git/commondir", "/w/.git/modules/a/config",
                              "/w/.git/modules/a/hooks/x", "/w/.git/modules/libs/b/config",
                              "/w/.git/modules/a/modules/c/hooks", "/w/.git/worktrees/t/commondir",
                              "/w/.git/worktrees/t/config.worktree", "/w/.git/modules/a/commondir"})
        EXPECT_EQ(rules.write(place).error, EACCES) << place;
    for (const char* place : {"/w/.git/modules/a/objects/x", "/w/.git/modules/libs/new/config",
                              "/w/.git/worktrees/t/HEAD", "/w/.git/worktrees/new/commondir", "/w/.git/index"})
        EXPECT_TRUE(rules.write(place).allowed) << place;
    EXPECT_EQ(view(compiled, "/w/.git/modules/libs/b/config"), kReadOnly);
    SandboxPolicy lifted = policy_of({{}, {}, {"."}, {}});
    lifted.filesystem.allow_git_config = true;
    const wire::AccessRules with_config = compile_both_ways(lifted, facts).plan.rules;
    EXPECT_TRUE(with_config.write("/w/.git/modules/a/config").allowed);
    EXPECT_FALSE(with_config.write("/w/.git/modules/a/hooks").allowed);
    EXPECT_FALSE(with_config.write("/w/.git/commondir").allowed);
}

TEST(MandatoryDenies, DirectoriesOfModulesAreTakenForRepositories) {
    FakePathFacts facts;
    facts.file("/w/.git/HEAD").directory("/w/.git/modules/without").directory("/w/.git/modules/libs");
    for (const std::string module : {"/w/.git/modules/libs/config", "/w/.git/modules/libs/hooks"})
        facts.file(module + "/HEAD").file(module + "/config").directory(module + "/objects");
    facts.file("/w/.git/modules/a/config").directory("/w/.git/modules/a/refs/heads").directory("/w/.git/modules/a/b");
    const CompiledPolicy compiled = compile_lists({{}, {}, {"."}, {}}, facts);
    for (const std::string place : {"without/hooks", "without/config", "libs/commondir", "libs/config/config",
                                    "libs/hooks/hooks", "a/config", "a/hooks", "a/b/hooks"})
        EXPECT_EQ(compiled.plan.rules.write("/w/.git/modules/" + place).error, EACCES) << place;
    for (const std::string place :
         {"libs/config/HEAD", "libs/hooks/index", "a/refs/heads/config", "a/b/x", "new/config"})
        EXPECT_TRUE(compiled.plan.rules.write("/w/.git/modules/" + place).allowed) << place;
    EXPECT_EQ(view(compiled, "/w/.git/modules/a/config"), kReadOnly);
}

TEST(MandatoryDenies, WhatACommandMakesBesideARepositoryDoesNotHideIt) {
    for (const char* sign : {"HEAD", "refs/x", "config"}) {
        FakePathFacts facts;
        facts.file("/w/.git/HEAD").file(std::string("/w/.git/modules/vendor/") + sign);
        for (const char* repository : {"info/x", "objects/lfs/y"})
            facts.file_with(std::string("/w/.git/modules/vendor/") + repository + "/config", "[core]\n");
        const CompiledPolicy compiled = compile_lists({{}, {}, {"."}, {}}, facts);
        for (const std::string place : {"vendor/info/x/config", "vendor/info/x/hooks", "vendor/objects/lfs/y/hooks"})
            EXPECT_EQ(compiled.plan.rules.write("/w/.git/modules/" + place).error, EACCES) << sign << " " << place;
    }
}

TEST(MandatoryDenies, DirectoriesThatCannotBeSearchedAreDeniedAsAWhole) {
    FakePathFacts facts;
    facts.file("/w/d/e/.bashrc").unlistable("/w/d").directory("/w/f");
    facts.file("/w/m/.git/HEAD").unlistable("/w/m/.git/modules").unlistable("/w/node_modules/p");
    facts.directory("/w/g/.git").unreachable("/w/g/.git/HEAD");
    const CompiledPolicy compiled = compile_lists({{}, {}, {"."}, {}}, facts);
    for (const char* place : {"/w/d", "/w/m/.git/modules", "/w/g/.git"}) {
        EXPECT_EQ(view(compiled, place), kReadOnly) << place;
        EXPECT_EQ(compiled.plan.rules.write(std::string(place) + "/x").error, EACCES) << place;
        EXPECT_TRUE(warns_of(compiled, "nothing in " + std::string(place) + " can be written")) << place;
    }
    EXPECT_TRUE(mentions(compiled.plan.rules.write("/w/d/x").rule, "cannot be searched"));
    for (const char* place : {"/w/f/x", "/w/m/x", "/w/m/.git/index", "/w/node_modules/p/x"})
        EXPECT_TRUE(compiled.plan.rules.write(place).allowed) << place;
}

TEST(Globs, DirectoriesThatCannotBeSearchedAreDeniedAsAWhole) {
    FakePathFacts facts;
    facts.unlistable("/w/node_modules/d").unlistable("/srv/d").directory("/srv/d/.").unlistable("/home");
    facts.directory("/home/.").unlistable("/srv/closed").directory("/w/f");
    const CompiledPolicy compiled = compile_lists(
        {{"/w/**/*.pem", "/srv/**/*.pem", "/home/**/*.pem"}, {}, {"/w", "/home/u"}, {"/w/**/*.key"}}, facts);
    EXPECT_EQ(view(compiled, "/w/node_modules/d"), View::masked);
    EXPECT_FALSE(compiled.plan.rules.write("/w/node_modules/d/x").allowed);
    EXPECT_EQ(view(compiled, "/srv/d"), View::masked) << "its names can be guessed";
    EXPECT_NE(view(compiled, "/srv/closed"), View::masked) << "nobody enters it";
    EXPECT_NE(view(compiled, "/home"), View::masked) << "it holds a root";
    EXPECT_TRUE(warns_of(compiled, "what is in /home cannot be searched"));
    EXPECT_TRUE(compiled.plan.rules.write("/w/f/x").allowed);
}

TEST(MandatoryDenies, TooManyAreAnErrorThatNamesTheRemedy) {
    FakePathFacts facts;
    for (int i = 0; i < 4200; ++i)
        for (const std::string_view name : kMandatoryDenies)
            if (!name.starts_with(".git/")) facts.directory("/w/" + std::to_string(i) + "/" + std::string(name));
    try {
        (void)compile(policy_of({{}, {}, {"."}, {}}), "/w", "/home/u", facts);
        FAIL() << "compiled";
    } catch (const Error& error) {
        EXPECT_TRUE(mentions(error.what(), "more than 50000 names that are always denied")) << error.what();
        EXPECT_TRUE(mentions(error.what(), "mandatoryDenyExcept")) << error.what();
    }
}

TEST(MandatoryDenies, PlacesWithoutAnythingAreCountedToo) {
    FakePathFacts facts;
    facts.file("/w/.git/HEAD");
    for (int i = 0; i < 51'000; ++i) facts.directory("/w/.git/worktrees/" + std::to_string(i));
    try {
        (void)compile(policy_of({{}, {}, {"."}, {}}), "/w", "/home/u", facts);
        FAIL() << "compiled";
    } catch (const Error& error) {
        EXPECT_TRUE(mentions(error.what(), "more than 100000 places")) << error.what();
    }
}

class Worktree : public ::testing::Test {
  protected:
    Worktree() {
        facts_.file_with("/w/.git", "gitdir: /main/.git/worktrees/w\n");
        facts_.file_with("/main/.git/worktrees/w/gitdir", "/w/.git\n")
            .file_with("/main/.git/worktrees/w/commondir", "../..\n");
        facts_.file("/main/.git/HEAD")
            .directory("/main/.git/objects")
            .directory("/main/.git/refs")
            .file("/main/.git/config");
        facts_.directory("/main/.git/worktrees/other").directory("/secret/objects");
    }
    CompiledPolicy compiled() {
        SandboxPolicy policy = policy_of({{}, {}, {"."}, {}});
        policy.filesystem.allow_git_worktree = true;
        return compile_both_ways(policy, facts_);
    }
    void expect_refused(const std::string& why) {
        const CompiledPolicy made = compiled();
        EXPECT_EQ(made.plan.rules.writable_roots(), std::vector<std::string>{"/w"}) << why;
        EXPECT_TRUE(warns_of(made, "filesystem.allowGitWorktree grants nothing for /w: ")) << why;
        EXPECT_TRUE(warns_of(made, why)) << ::testing::PrintToString(made.warnings);
    }
    FakePathFacts facts_;
};

TEST_F(Worktree, ItsRepositoryCanBeWrittenButForItsSettings) {
    const CompiledPolicy made = compiled();
    const wire::AccessRules& rules = made.plan.rules;
    EXPECT_TRUE(made.warnings.empty());
    for (const char* place : {"/main/.git/objects/x", "/main/.git/refs/heads/b",
                              "/main/.git/worktrees/w/HEAD", "/main/.git/packed-refs.lock"})
        EXPECT_TRUE(rules.write(place).allowed) << place;
    for (const char* place : {"/main/.git/config", "/main/.git/hooks/x", "/main/.git/worktrees/other/index",
                              "/main/.git/worktrees/other/commondir", "/main/.git/worktrees/w/commondir",
                              "/w/.git", "/main/file", "/main/.git/commondir"})
        EXPECT_FALSE(rules.write(place).allowed) << place;
    SandboxPolicy without = policy_of({{}, {}, {"."}, {}});
    EXPECT_FALSE(compile_both_ways(without, facts_).plan.rules.write("/main/.git/objects/x").allowed);
}

TEST_F(Worktree, ForgedPointersGrantNothing) {
    facts_.file_with("/w/.git", "gitdir: /secret\n");
    expect_refused("/secret is no entry of a repository's worktrees");
    facts_.file_with("/w/.git", "nothing\n");
    expect_refused("has no \"gitdir: \"");
    facts_.file_with("/w/.git", "gitdir: /main/.git/worktrees/other\n");
    expect_refused("/gitdir does not lead back to /w/.git");
    facts_.link("/w/way", "/main/.git").file_with("/w/.git", "gitdir: way/worktrees/w\n");
    expect_refused("leads through a symbolic link");
    facts_.file_with("/w/.git", "gitdir: /nope\n");
    expect_refused("to no directory");
}

TEST_F(Worktree, ForgedRepositoriesGrantNothing) {
    facts_.file_with("/main/.git/worktrees/w/gitdir", "/elsewhere/.git\n");
    expect_refused("does not lead back");
    facts_.file_with("/main/.git/worktrees/w/gitdir", "/w/.git\n");
    facts_.file_with("/main/.git/worktrees/w/commondir", "/secret\n");
    expect_refused("commondir does not lead to /main/.git");
    facts_.file_with("/main/.git/worktrees/w/commondir", "../..\n")
        .link("/main/.git/objects", "/secret/objects");
    expect_refused("/main/.git/objects is not what git makes");
    facts_.directory("/main/.git/objects").link("/main/.git/logs", "/secret");
    expect_refused("/main/.git/logs is not what git makes");
    facts_.file("/main/.git/logs").link("/w/.git", "/main/.git");
    expect_refused("/w/.git is a symbolic link");
}

}  // namespace
}  // namespace sandpipe
