#include "sandbox/policy/mount_aliases.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_path_facts.hpp"
#include "sandbox/policy/compile.hpp"

namespace sandpipe {
namespace {

using Places = std::vector<std::string>;

Places paths_to(const char* place, const std::vector<HostMount>& mounts) {
    Places paths;
    for (const OtherPath& other : other_paths(place, mounts)) paths.push_back(other.path);
    return paths;
}

constexpr const char* kTable =
    "20 1 8:1 / / rw - ext4 /dev/a rw\n"
    "21 20 8:1 /srv/w /mnt/w rw shared:1 - ext4 /dev/a rw\n"
    "22 20 8:2 /@home /home rw - btrfs /dev/b rw\n"
    "23 20 8:2 / /mnt/top rw - btrfs /dev/b rw\n"
    "24 20 8:3 / /mnt/a\\040b rw - ext4 /dev/c rw\n"
    "25 20 8:3 /in /in rw - ext4 /dev/c rw\n"
    "nonsense\n";

TEST(MountAliases, ParsesTheTable) {
    const std::vector<HostMount> mounts = parse_mount_table(kTable);
    ASSERT_EQ(mounts.size(), 6U);
    EXPECT_EQ(mounts[1].device, "8:1");
    EXPECT_EQ(mounts[1].root, "/srv/w");
    EXPECT_EQ(mounts[1].point, "/mnt/w");
    EXPECT_EQ(mounts[4].point, "/mnt/a b");
    EXPECT_EQ(mounts[0].type, "ext4");
    EXPECT_EQ(mounts[1].type, "ext4") << "after an optional field";
    EXPECT_TRUE(parse_mount_table("").empty());
}

TEST(MountAliases, FindsTheOtherPaths) {
    const std::vector<HostMount> mounts = parse_mount_table(kTable);
    EXPECT_EQ(paths_to("/srv/w/key", mounts), Places{"/mnt/w/key"});
    EXPECT_EQ(paths_to("/srv/w", mounts), Places{"/mnt/w"});
    EXPECT_EQ(paths_to("/mnt/w/key", mounts), Places{"/srv/w/key"});
    EXPECT_EQ(paths_to("/srv", mounts), Places{"/mnt/w"}) << "something below it";
    EXPECT_EQ(other_paths("/srv", mounts)[0].place, "/srv/w");
    EXPECT_EQ(paths_to("/mnt/top", mounts), Places{"/home"});
    EXPECT_EQ(paths_to("/home/u/.ssh", mounts), Places{"/mnt/top/@home/u/.ssh"});
    EXPECT_EQ(paths_to("/in/x", mounts), Places{"/mnt/a b/in/x"});
    EXPECT_EQ(paths_to("/mnt/a b/other", mounts), Places{});
    EXPECT_EQ(paths_to("/srv/w", {}), Places{});
}

TEST(MountAliases, WhatIsDeniedIsDeniedByItsOtherPathsToo) {
    test::FakePathFacts facts;
    facts.file("/srv/w/key").file("/mnt/w/key").file("/srv/w/a.pem").file("/mnt/w/a.pem").mounted(kTable);
    SandboxPolicy policy;
    policy.filesystem.deny_read = {"/srv/w/key", "/srv/w/*.pem"};
    const CompiledPolicy compiled = compile(policy, "/w", "/home/u", facts);
    for (const char* path : {"/srv/w/key", "/mnt/w/key", "/mnt/w/a.pem", "/mnt/w/later.pem"})
        EXPECT_FALSE(compiled.plan.rules.read(path).allowed) << path;
    EXPECT_TRUE(compiled.plan.rules.read("/mnt/w/other").allowed);
    policy.filesystem.allow_read = {"/mnt/w/key"};
    const CompiledPolicy granted = compile(policy, "/w", "/home/u", facts);
    EXPECT_TRUE(granted.plan.rules.read("/mnt/w/key").allowed);
    ASSERT_EQ(granted.warnings.size(), 1U);
    EXPECT_NE(granted.warnings[0].find("/srv/w/key is mounted at /mnt/w/key too"), std::string::npos);
}

TEST(MountAliases, AnyAmongTrees) {
    test::FakePathFacts facts;
    const std::vector<HostMount> mounts = parse_mount_table(kTable);
    const MountAliases aliases(mounts, facts);
    EXPECT_TRUE(aliases.any_among({"/mnt"})) << "/srv/w is below the root of the same file system";
    EXPECT_TRUE(aliases.any_among({"/srv/w", "/mnt/w"}));
    EXPECT_FALSE(aliases.any_among({"/srv/w"}));
    EXPECT_FALSE(aliases.any_among({"/home/u"}));
    EXPECT_FALSE(aliases.any_among({}));
}

TEST(MountAliases, WhatIsAlwaysDeniedIsDeniedByItsOtherPathsToo) {
    test::FakePathFacts facts;
    facts.directory("/w/self").directory("/w/mirror").directory("/w/.git/hooks").directory("/w/self/.git/hooks");
    facts.directory("/w/mirror/hooks").file("/w/.git/HEAD").file("/w/.git/config").file("/w/mirror/config");
    facts.mounted(
        "20 1 8:1 / / rw - ext4 /dev/a rw\n"
        "21 20 8:1 /w /w/self rw - ext4 /dev/a rw\n"
        "22 20 8:1 /w/.git /w/mirror rw - ext4 /dev/a rw\n");
    SandboxPolicy policy;
    policy.filesystem.allow_write = {"."};
    const CompiledPolicy compiled = compile(policy, "/w", "/home/u", facts);
    for (const char* path : {"/w/.bashrc", "/w/self/.bashrc", "/w/self/.claude/commands", "/w/mirror/hooks/x",
                             "/w/mirror/config", "/w/self/.git/config"})
        EXPECT_FALSE(compiled.plan.rules.write(path).allowed) << path;
    EXPECT_TRUE(compiled.plan.rules.write("/w/mirror/index").allowed);
    EXPECT_TRUE(compiled.plan.rules.write("/w/self/x").allowed);
}

}  // namespace
}  // namespace sandpipe
