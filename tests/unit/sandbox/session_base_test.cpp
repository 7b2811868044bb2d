#include "sandbox/session_base.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_tree.hpp"

namespace sandpipe {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& workspace) {
    try {
        return "accepted: " + find_workspace(workspace);
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(FindWorkspace, SaysWhatIsWrongWithIt) {
    const testing::TempTree tree;
    fs::create_symlink("loop", tree.path() / "loop");
    std::ofstream(tree.path() / "file") << "x";
    EXPECT_TRUE(mentions(refusal(tree.path() / "loop"), "Too many levels of symbolic links"));
    EXPECT_TRUE(mentions(refusal(tree.path() / "none"), "No such file or directory"));
    EXPECT_TRUE(mentions(refusal(tree.path() / "file/x"), "Not a directory"));
    EXPECT_TRUE(mentions(refusal(tree.path() / "file"), "is not a directory"));
}

TEST(FindWorkspace, IsAbsoluteAndAsItWasNamed) {
    const testing::TempTree tree;
    fs::create_directory(tree.path() / "real");
    fs::create_directory_symlink("real", tree.path() / "link");
    EXPECT_EQ(find_workspace(tree.path() / "link"), tree.path() / "link");
    EXPECT_EQ(fs::path(find_workspace(".")).lexically_normal(), (fs::current_path() / ".").lexically_normal());
}

TEST(FindHome, IsTheVariableWhereThatIsAbsolute) {
    EXPECT_EQ(find_home("/home/ann"), "/home/ann");
    EXPECT_EQ(find_home("ann"), find_home(nullptr));
}

}  // namespace
}  // namespace sandpipe
