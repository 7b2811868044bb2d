#include "tool/remove_tree.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sandpipe/unique_fd.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_tree.hpp"

namespace sandpipe::tool {
namespace {

namespace fs = std::filesystem;

class RemoveTree : public ::testing::Test {
  protected:
    void SetUp() override {
        fd_.reset(::open(base_.c_str(), O_PATH | O_DIRECTORY));
        fs::create_directory(base_ / "outside");
        std::ofstream(base_ / "outside/kept") << "x";
    }
    void TearDown() override { EXPECT_TRUE(fs::exists(base_ / "outside/kept")); }
    int remove(const std::string& name) { return remove_tree(fd_.get(), name); }

    const testing::TempTree tree_;
    const fs::path base_ = tree_.path();
    unique_fd fd_;
};

TEST_F(RemoveTree, TakesFilesDirectoriesAndLinksAwayAndFollowsNone) {
    fs::create_directories(base_ / "t/a/b/c");
    std::ofstream(base_ / "t/a/b/file") << "x";
    fs::create_symlink("../outside", base_ / "t/link");
    fs::create_symlink("../../../outside", base_ / "t/a/b/link");
    fs::create_symlink("nowhere", base_ / "t/dangling");
    ASSERT_EQ(::mkfifo((base_ / "t/a/fifo").c_str(), 0), 0);
    EXPECT_EQ(remove("t"), 0);
    EXPECT_FALSE(fs::exists(base_ / "t"));
}

TEST_F(RemoveTree, ModesDoNotMatter) {
    fs::create_directories(base_ / "t/a/b");
    std::ofstream(base_ / "t/a/b/file") << "x";
    for (const char* name : {"t/a/b", "t/a", "t"}) fs::permissions(base_ / name, fs::perms::none);
    EXPECT_EQ(remove("t"), 0);
    EXPECT_FALSE(fs::exists(base_ / "t"));
}

TEST_F(RemoveTree, DepthDoesNotMatter) {
    constexpr int kDepth = 300;
    const std::string name(40, 'd');  // all of them together are longer than any path may be
    ASSERT_EQ(::mkdirat(fd_.get(), "t", 0700), 0);
    unique_fd at(::openat(fd_.get(), "t", O_PATH | O_DIRECTORY));
    for (int i = 0; i < kDepth; ++i) {
        ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
        ASSERT_EQ(::symlinkat("/", at.get(), "l"), 0);
        at.reset(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY));
        ASSERT_TRUE(at);
    }
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few = before;
    few.rlim_cur = 32;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    EXPECT_EQ(remove("t"), 0);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(fs::exists(base_ / "t"));
}

TEST_F(RemoveTree, NamesOfItsOwnMayBeTaken) {
    fs::create_directories(base_ / "t/a/b/c");
    fs::create_directories(base_ / "t/.removing-1/x");
    EXPECT_EQ(remove("t"), 0);
    EXPECT_FALSE(fs::exists(base_ / "t"));
}

TEST_F(RemoveTree, WhatIsNotThereOrNoDirectory) {
    EXPECT_EQ(remove("none"), 0);
    std::ofstream(base_ / "file") << "x";
    EXPECT_EQ(remove("file"), 0);
    EXPECT_FALSE(fs::exists(base_ / "file"));
    fs::create_symlink("outside", base_ / "link");
    EXPECT_EQ(remove("link"), 0);
    EXPECT_FALSE(fs::is_symlink(base_ / "link"));
}

}  // namespace
}  // namespace sandpipe::tool
