#include "sandbox/policy/compile.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compiled_policy.hpp"
#include "sandbox/policy/mandatory_denies.hpp"

namespace sandpipe {
namespace {

using namespace test;

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

}  // namespace
}  // namespace sandpipe
