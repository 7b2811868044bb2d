#include "sandbox/policy/compile.hpp"

#include <gtest/gtest.h>

#include "compiled_policy.hpp"

namespace sandpipe {
namespace {

using namespace test;

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

}  // namespace
}  // namespace sandpipe
