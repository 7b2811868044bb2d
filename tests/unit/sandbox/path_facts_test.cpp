#include "sandbox/policy/path_facts.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "fake_path_facts.hpp"
#include "support/mentions.hpp"
#include "support/temp_tree.hpp"

namespace sandpipe {
namespace {

/// No descriptor can be opened while this lives.
class NoDescriptors {
  public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit none = before_;
        none.rlim_cur = 0;
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

std::string mount_table_error() {
    const NoDescriptors none;
    try {
        (void)HostPathFacts().mount_table();
    } catch (const Error& error) {
        return error.code() == Errc::sandbox_failed ? error.what() : "another error";
    }
    return {};
}

TEST(HostPathFacts, AMountTableThatCannotBeReadIsAnError) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the vptr check of UBSan needs free descriptors, and calls every object invalid without them";
#endif
    EXPECT_FALSE(HostPathFacts().mount_table().empty());
    EXPECT_TRUE(mentions(mount_table_error(), "/proc/self/mountinfo cannot be read")) << mount_table_error();
    EXPECT_TRUE(mentions(mount_table_error(), "see ulimit -n")) << mount_table_error();
}

TEST(ListSurely, WhatCouldEscapeTheSearchIsAnError) {
    test::FakePathFacts facts;
    facts.file("/w/d/f").unlistable("/w/closed");
    EXPECT_EQ(list_surely(facts, "/w/d").error, 0);
    EXPECT_EQ(list_surely(facts, "/w/d").entries.size(), 1U);
    EXPECT_EQ(list_surely(facts, "/w/closed").error, EACCES);
    EXPECT_EQ(list_surely(facts, "/w/gone").error, 0) << "nothing is there";
    EXPECT_EQ(list_surely(facts, "/w/" + std::string(3836, 'x')).error, 0);
    EXPECT_EQ(list_surely(facts, "/w/" + std::string(3837, 'x')).error, ENAMETOOLONG);
}

TEST(HostPathFacts, ADirectoryThatCannotBeEnteredIsNotListedWell) {
    const testing::TempTree tree;
    const std::string name = tree.path();
    const HostPathFacts facts;
    EXPECT_EQ(facts.list(name).error, 0);
    ASSERT_EQ(::chmod(name.c_str(), 0600), 0);
    EXPECT_EQ(facts.list(name).error, ::geteuid() == 0 ? 0 : EACCES) << "root enters everything";
    ASSERT_EQ(::chmod(name.c_str(), 0300), 0);
    EXPECT_EQ(facts.list(name).error, ::geteuid() == 0 ? 0 : EACCES);
}

}  // namespace
}  // namespace sandpipe
