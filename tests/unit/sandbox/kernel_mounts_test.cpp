#include "sandbox/policy/kernel_mounts.hpp"

#include <gtest/gtest.h>
#include <sandpipe/explain.hpp>

#include <string>
#include <vector>

#include "fake_path_facts.hpp"
#include "sandbox/explain_place.hpp"
#include "sandbox/policy/compile.hpp"
#include "sandbox/session_view.hpp"

namespace sandpipe {
namespace {

using Places = std::vector<std::string>;
using wire::MountOp;
using wire::MountStep;

KernelMounts found_in(const PathFacts& facts) {
    return find_kernel_mounts(parse_mount_table(facts.mount_table()), facts);
}

test::FakePathFacts chroots() {
    test::FakePathFacts facts;
    facts.directory("/w/ch/proc/sys").directory("/w/ch/sys").file("/w/ch/proc/status").directory("/srv/proc");
    facts.directory("/w/cg/mine").file("/w/hostname");
    facts.mounted(
        "20 1 0:0 / / rw - ext4 /dev/a rw\n"
        "21 20 0:0 / /proc rw - proc proc rw\n"
        "22 20 0:0 / /sys rw - sysfs sysfs rw\n"
        "23 20 0:0 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
        "24 20 0:0 / /w/ch/proc rw shared:3 - proc proc rw\n"
        "25 20 0:0 / /w/ch/sys rw - sysfs sysfs rw\n"
        "26 20 0:0 / /w/cg rw - cgroup2 cgroup rw\n"
        "27 20 0:0 / /srv/proc rw - proc proc rw\n"
        "28 20 0:0 /sys/kernel/hostname /w/hostname rw - proc proc rw\n"
        "29 20 0:0 / /gone rw - proc proc rw\n");
    return facts;
}

CompiledPolicy planned_with(const FilesystemPolicy& filesystem, const PathFacts& facts) {
    SandboxPolicy policy;
    policy.filesystem = filesystem;
    return compile(policy, "/w", "/home/u", facts);
}

TEST(KernelMounts, AreFoundByTheirTypes) {
    const KernelMounts found = found_in(chroots());
    EXPECT_EQ(found.hidden, (Places{"/srv/proc", "/w/ch/proc", "/w/ch/sys", "/w/hostname"}));
    EXPECT_EQ(found.read_only, Places{"/w/cg"});
    test::FakePathFacts covered;
    covered.directory("/w/p").mounted("24 20 0:7 / /w/p rw - proc proc rw\n");
    EXPECT_TRUE(found_in(covered).hidden.empty()) << "something else is mounted over it";
    EXPECT_TRUE(found_in(test::FakePathFacts()).hidden.empty());
}

TEST(KernelMounts, AreHiddenInRootsAndElsewhere) {
    FilesystemPolicy policy;
    policy.allow_write = {"."};
    const CompiledPolicy made = planned_with(policy, chroots());
    for (const char* place : {"/w/ch/proc/sys", "/w/ch/sys", "/w/hostname", "/srv/proc/1"}) {
        EXPECT_FALSE(made.plan.rules.read(place).allowed) << place;
        EXPECT_FALSE(made.plan.rules.write(place).allowed) << place;
    }
    EXPECT_TRUE(made.plan.rules.read("/w/cg/mine").allowed);
    EXPECT_FALSE(made.plan.rules.write("/w/cg/mine").allowed);
    EXPECT_TRUE(made.plan.rules.write("/w/ch/x").allowed);
    EXPECT_TRUE(made.warnings.empty());
}

TEST(KernelMounts, AreHiddenInAWorkspaceBelowTheHostsTmpThatIsNoRoot) {
    test::FakePathFacts facts;
    facts.directory("/tmp/w/out").directory("/tmp/w/nest/p").directory("/tmp/x/p");
    facts.mounted(
        "20 1 0:0 / / rw - ext4 /dev/a rw\n"
        "21 20 0:0 / /tmp/w/nest/p rw - proc proc rw\n"
        "22 20 0:0 / /tmp/x/p rw - proc proc rw\n");
    SandboxPolicy policy;
    policy.filesystem.allow_write = {"out"};
    const CompiledPolicy made = compile(policy, "/tmp/w", "/home/u", facts);
    EXPECT_FALSE(made.plan.rules.read("/tmp/w/nest/p/1").allowed);
    EXPECT_TRUE(made.plan.rules.read("/tmp/w/nest/other").allowed);
}

TEST(KernelMounts, WhatIsNamedIsShown) {
    FilesystemPolicy policy;
    policy.allow_write = {".", "cg/mine"};
    policy.allow_read = {"ch/proc"};
    const CompiledPolicy made = planned_with(policy, chroots());
    EXPECT_TRUE(made.plan.rules.read("/w/ch/proc/status").allowed);
    EXPECT_FALSE(made.plan.rules.write("/w/ch/proc/sys").allowed);
    EXPECT_TRUE(made.plan.rules.write("/w/cg/mine").allowed);
    EXPECT_FALSE(made.plan.rules.read("/srv/proc/1").allowed);
    policy.allow_write = {".", "ch/proc", "ch/proc/sys"};
    policy.allow_read = {"ch/proc/sys"};
    const CompiledPolicy within = planned_with(policy, chroots());
    EXPECT_TRUE(within.plan.rules.read("/w/ch/proc/sys/x").allowed);
    EXPECT_FALSE(within.plan.rules.write("/w/ch/proc/sys/x").allowed);
    EXPECT_FALSE(within.plan.rules.write("/w/ch/proc/status").allowed);
}

TEST(KernelMounts, NoGlobGrantsThem) {
    FilesystemPolicy policy;
    policy.allow_write = {"**"};
    policy.allow_read = {"ch/**", "ch/proc/*"};
    const CompiledPolicy made = planned_with(policy, chroots());
    EXPECT_FALSE(made.plan.rules.read("/w/ch/proc/status").allowed);
    EXPECT_FALSE(made.plan.rules.write("/w/ch/proc/sys").allowed);
}

TEST(KernelMounts, AreClosedWithoutRulesToo) {
    FilesystemPolicy policy;
    policy.disabled = true;
    const test::FakePathFacts facts = chroots();
    const CompiledPolicy made = planned_with(policy, facts);
    Places masked;
    Places read_only;
    for (const MountOp& op : made.plan.mounts)
        (op.step == MountStep::mask ? masked : read_only).push_back(op.path);
    EXPECT_EQ(masked, (Places{"/srv/proc", "/w/ch/proc", "/w/ch/sys", "/w/hostname"}));
    EXPECT_EQ(read_only, (Places{"/sys", "/w/cg"}));
    const SessionView view(made, facts);
    for (const char* place : {"/sys/power/state", "/w/cg/mine", "/w/ch/proc/sys", "/proc/kcore"})
        EXPECT_FALSE(explain_place(made, ExplainedAct::write, place, view).allowed) << place;
    EXPECT_TRUE(explain_place(made, ExplainedAct::read, "/sys/power/state", view).allowed);
    EXPECT_FALSE(explain_place(made, ExplainedAct::read, "/w/ch/proc/status", view).allowed);
    EXPECT_TRUE(explain_place(made, ExplainedAct::write, "/w/x", view).allowed);
}

}  // namespace
}  // namespace sandpipe
