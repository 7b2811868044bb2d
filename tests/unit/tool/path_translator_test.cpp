#include <sandpipe/tool/path_translator.hpp>

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/temp_tree.hpp"

namespace sandpipe {
namespace {

namespace fs = std::filesystem;

// base/workspace with dir/sub, file, and links of every kind; base/outside beside it.
class Translator : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(workspace_ / "dir/sub");
        fs::create_directories(base_ / "outside/deep");
        std::ofstream(workspace_ / "file") << "x";
        fs::create_symlink("dir/sub", workspace_ / "inner");
        fs::create_symlink("../outside", workspace_ / "outer");
        fs::create_symlink(base_ / "outside", workspace_ / "absolute");
        fs::create_symlink(workspace_ / "dir", workspace_ / "absolute_inner");
        fs::create_symlink("nowhere", workspace_ / "dangling");
        fs::create_symlink("loop", workspace_ / "loop");
        fs::create_symlink("/proc/self/cwd", workspace_ / "magic");
    }
    std::string host(const std::string& path) { return PathTranslator(workspace_).to_host(path); }

    std::string refused(const std::string& path) {
        try {
            return "accepted as " + host(path);
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::sandbox_path_escape);
            const std::string& text = error.text();
            const std::size_t begin = text.find("is refused (");
            return begin == std::string::npos ? text
                                              : text.substr(begin + 12, text.find(')', begin) - begin - 12);
        }
    }

    const testing::TempTree tree_;
    const fs::path base_ = tree_.path();
    const fs::path workspace_ = base_ / "workspace";
};

TEST_F(Translator, NothingIsMade) {
    static_cast<void>(host("new/a/b"));
    EXPECT_FALSE(fs::exists(workspace_ / "new"));
}

TEST_F(Translator, NoLinkThatClimbsLeadsOut) {
    fs::create_symlink("..", workspace_ / "up");
    EXPECT_EQ(refused("up"), "symlink");
    fs::create_symlink("../..", workspace_ / "dir/sub/top");
    EXPECT_EQ(refused("dir/sub/top/../.."), "symlink") << "its spelling stays inside";
}

// What each input becomes: "=PATH" below the workspace, or the reason why not.
struct PathCase {
    std::string_view path;
    const char* becomes;
};

using namespace std::string_view_literals;

constexpr PathCase kCases[] = {
    // the workspace itself
    {"", "="},
    {"/", "="},
    {".", "="},
    {"./", "="},
    {"/.", "="},
    {"././/.", "="},
    {"dir/..", "="},
    {"/dir/../.", "="},
    {"dir/sub/../..", "="},
    // places in it
    {"dir", "=/dir"},
    {"/dir", "=/dir"},
    {"dir/", "=/dir"},
    {"dir//sub", "=/dir/sub"},
    {"./dir/./sub/.", "=/dir/sub"},
    {"dir/../dir", "=/dir"},
    {"inner", "=/dir/sub"},
    {"/inner/", "=/dir/sub"},
    {"inner/..", "=/dir"},
    {"inner/../sub", "=/dir/sub"},
    {"file", "=/file"},
    // missing, and what only looks like another place
    {"new", "=/new"},
    {"new/a/b/", "=/new/a/b"},
    {"/new//a", "=/new/a"},
    {"inner/new", "=/dir/sub/new"},
    {"file/below", "=/file/below"},
    {"/etc/passwd", "=/etc/passwd"},
    {"/proc/self/root", "=/proc/self/root"},
    {"/home/user/x", "=/home/user/x"},
    {"a~", "=/a~"},
    {"dir/~", "=/dir/~"},
    {"/~", "=/~"},
    {"ab:c", "=/ab:c"},
    {"1:", "=/1:"},
    {"/C:", "=/C:"},
    {"file:///etc", "=/file:/etc"},
    {"...", "=/..."},
    {"..a", "=/..a"},
    {"a..", "=/a.."},
    {"%2e%2e/x", "=/%2e%2e/x"},
    {"a\\..\\b", "=/a\\..\\b"},
    {"..\\x", "=/..\\x"},
    {"\\x", "=/\\x"},
    {" ", "=/ "},
    {"a b\n", "=/a b\n"},
    {"\xff", "=/\xff"},
    {"\u202e", "=/\u202e"},
    {"$HOME", "=/$HOME"},
    {"*", "=/*"},
    // nul
    {"\0"sv, "nul"},
    {"a\0b"sv, "nul"},
    {"dir\0/../.."sv, "nul"},
    {"~\0"sv, "nul"},
    // home
    {"~", "home"},
    {"~/", "home"},
    {"~/x", "home"},
    {"~root", "home"},
    {"~root/../x", "home"},
    // drive
    {"C:", "drive"},
    {"c:", "drive"},
    {"C:/x", "drive"},
    {"C:\\x", "drive"},
    {"z:relative", "drive"},
    // device
    {"\\\\.\\pipe\\x", "device"},
    {"\\\\?\\C:\\x", "device"},
    {"//./x", "device"},
    {"//?/x", "device"},
    {"\\/.\\x", "device"},
    // unc
    {"\\\\server\\share", "unc"},
    {"//server/share", "unc"},
    {"///etc", "unc"},
    {"//", "unc"},
    {"\\/server", "unc"},
    // escape
    {"..", "escape"},
    {"../", "escape"},
    {"/..", "escape"},
    {"../workspace", "escape"},
    {"../outside", "escape"},
    {"../missing", "escape"},
    {"dir/../..", "escape"},
    {"./../x", "escape"},
    {"dir/sub/../../../x", "escape"},
    {"/../../../../etc/passwd", "escape"},
    {"new/../..", "escape"},
    {"new/../dir", "escape"},
    {"inner/../..", "escape"},
    {"inner/../../..", "escape"},
    // symlink
    {"outer", "symlink"},
    {"outer/", "symlink"},
    {"outer/deep", "symlink"},
    {"outer/missing", "symlink"},
    {"dir/../outer", "symlink"},
    {"outer/../dir", "symlink"},
    {"absolute", "symlink"},
    {"absolute/deep", "symlink"},
    {"absolute/missing/x", "symlink"},
    {"absolute_inner", "symlink"},
    {"dangling", "symlink"},
    {"dangling/x", "symlink"},
    {"loop", "symlink"},
    {"loop/x", "symlink"},
    {"magic", "symlink"},
    {"magic/x", "symlink"},
};
static_assert(std::size(kCases) >= 60);

TEST_F(Translator, TableOfPaths) {
    for (const PathCase& entry : kCases) {
        const std::string path(entry.path);
        const std::string expected = entry.becomes;
        if (expected[0] == '=') {
            EXPECT_EQ(host(path), std::string(workspace_) + expected.substr(1)) << path;
        } else {
            EXPECT_EQ(refused(path), expected) << path;
        }
    }
}

TEST_F(Translator, ARefusedPathForgesNoLineOfOurs) {
    try {
        static_cast<void>(host("../x\n[sandbox 0] ok\xff"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.text().find('\n'), std::string::npos) << error.text();
    }
}

TEST_F(Translator, TheRefusalNamesThePath) {
    try {
        static_cast<void>(host("../x"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(error.text().find("\"../x\" is refused (escape)"), std::string::npos);
    }
}

TEST_F(Translator, TheWorkspaceIsKeptByItsDirectory) {
    const PathTranslator paths(workspace_);
    fs::rename(workspace_, base_ / "moved");
    fs::create_directory_symlink("outside", workspace_);
    EXPECT_EQ(paths.to_host("dir"), std::string(base_ / "moved/dir"));
}

TEST_F(Translator, TheWorkspaceMustBeADirectory) {
    for (const std::string& path :
         {std::string(workspace_ / "file"), std::string(base_ / "none"), std::string()}) {
        EXPECT_THROW(PathTranslator{path}, Error) << path;
    }
    try {
        const PathTranslator missing(base_ / "none");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("No such file or directory; it must be"), std::string::npos)
            << error.what();
    }
}

TEST_F(Translator, ALinkToTheWorkspaceIsTheWorkspace) {
    fs::create_symlink("workspace", base_ / "link");
    EXPECT_EQ(PathTranslator(base_ / "link").to_host("dir"), std::string(workspace_ / "dir"));
}

}  // namespace
}  // namespace sandpipe
