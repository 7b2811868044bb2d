#include "launcher/command/process_table.hpp"

#include <gmock/gmock.h>

#include <map>

namespace sandpipe::launcher {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr pid_t kSelf = 10;

ProcessFacts process(pid_t pid, pid_t parent, pid_t group, bool dead = false) {
    ProcessFacts facts;
    facts.pid = pid;
    facts.parent = parent;
    facts.group = group;
    facts.dead = dead;
    return facts;
}

class ProcessTableTest : public ::testing::Test {
  protected:
    [[nodiscard]] ProcessTable table() const {
        return {all, kSelf, leaders, [this](pid_t pid) {
                    ++asked;
                    const auto found = marks.find(pid);
                    return found == marks.end() ? rlim_t{0} : found->second;
                }};
    }
    static std::vector<pid_t> numbers(const std::vector<ProcessFacts>& processes) {
        std::vector<pid_t> result;
        for (const ProcessFacts& facts : processes) result.push_back(facts.pid);
        return result;
    }

    std::vector<ProcessFacts> all{process(1, 0, 1), process(kSelf, 1, kSelf), process(5, 1, 5)};
    std::unordered_set<pid_t> leaders{100, 200};
    std::map<pid_t, rlim_t> marks;
    mutable int asked = 0;
};

TEST_F(ProcessTableTest, MembersOfTheGroupAreFoundWhoeverTheirParentIs) {
    all.push_back(process(100, kSelf, 100));
    all.push_back(process(101, 100, 100));
    all.push_back(process(102, 1, 100));
    all.push_back(process(103, 100, 100, true));
    all.push_back(process(200, kSelf, 200));
    const CommandTree tree = table().tree_of(100, 1);
    EXPECT_THAT(numbers(tree.in_group), UnorderedElementsAre(100, 101, 102));
    EXPECT_THAT(tree.escaped, IsEmpty());
    EXPECT_EQ(asked, 0) << "no mark is read where the group says it all";
}

TEST_F(ProcessTableTest, WhatLeftTheGroupIsKnownByItsAncestors) {
    all.push_back(process(100, kSelf, 100, true));
    all.push_back(process(101, 100, 101));
    all.push_back(process(102, 101, 102, true));
    all.push_back(process(103, 102, 103));
    EXPECT_THAT(numbers(table().tree_of(100, 1).escaped), UnorderedElementsAre(101, 103));
    EXPECT_TRUE(table().tree_of(200, 2).empty());
}

TEST_F(ProcessTableTest, ALeaderThatLeftItsOwnGroupIsItsOwnAncestor) {
    all.push_back(process(100, kSelf, 101));
    EXPECT_THAT(numbers(table().tree_of(100, 1).escaped), UnorderedElementsAre(100));
}

TEST_F(ProcessTableTest, OrphansAreKnownByTheirMarks) {
    all.push_back(process(300, kSelf, 300));
    all.push_back(process(301, 300, 300));
    all.push_back(process(302, kSelf, 302));
    marks = {{300, 1}, {301, 9}, {302, 2}};
    EXPECT_THAT(numbers(table().tree_of(100, 1).escaped), UnorderedElementsAre(300, 301));
    EXPECT_THAT(numbers(table().tree_of(200, 2).escaped), UnorderedElementsAre(302));
    EXPECT_THAT(numbers(table().tree_of(100, 9).escaped), UnorderedElementsAre(301))
        << "marked anew by another launcher";
    EXPECT_TRUE(table().tree_of(100, 3).empty());
}

TEST_F(ProcessTableTest, AnOrphanInAnotherCommandsGroupBelongsToBoth) {
    all.push_back(process(200, kSelf, 200));
    all.push_back(process(300, kSelf, 200));
    marks = {{300, 1}};
    EXPECT_THAT(numbers(table().tree_of(100, 1).escaped), UnorderedElementsAre(300));
    EXPECT_THAT(numbers(table().tree_of(200, 2).in_group), UnorderedElementsAre(200, 300));
}

TEST_F(ProcessTableTest, ThoseOfOthersAreNobodys) {
    all.push_back(process(400, 5, 400));
    marks = {{400, 1}, {5, 1}};
    EXPECT_TRUE(table().tree_of(100, 1).empty()) << "a mark counts below the launcher only";
}

}  // namespace
}  // namespace sandpipe::launcher
