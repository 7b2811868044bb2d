#include "sandbox/policy/compile.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiled_policy.hpp"

namespace sandpipe {
namespace {

using namespace test;

struct ViewCase {
    const char* name;
    Lists lists;
    std::vector<std::pair<const char*, View>> views;
};

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

}  // namespace
}  // namespace sandpipe
