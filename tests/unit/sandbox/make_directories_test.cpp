#include "sandbox/make_directories.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "support/temp_tree.hpp"

namespace sandpipe {
namespace {

namespace fs = std::filesystem;

class MakeDirectories : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(home_ + "/root/here");
        fs::create_directory(home_ + "/outside");
    }
    const testing::TempTree tree_;
    const std::string home_ = tree_.path();
};

TEST_F(MakeDirectories, MakesWhatIsMissing) {
    make_directories({home_ + "/root/here/a/b/c", home_ + "/root/here", home_ + "/root/x"});
    EXPECT_TRUE(fs::is_directory(home_ + "/root/here/a/b/c"));
    EXPECT_TRUE(fs::is_directory(home_ + "/root/x"));
}

TEST_F(MakeDirectories, FollowsNoLink) {
    fs::create_directory_symlink(home_ + "/outside", home_ + "/root/way");
    fs::create_symlink(home_ + "/outside/new", home_ + "/root/dangling");
    for (const std::string path : {"/root/way/a", "/root/way", "/root/dangling", "/root/dangling/a"})
        EXPECT_THROW(make_directories({home_ + path}), Error) << path;
    EXPECT_TRUE(fs::is_empty(home_ + "/outside"));
}

}  // namespace
}  // namespace sandpipe
