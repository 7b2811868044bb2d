#include <sandpipe/tool/path_translator.hpp>

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT: mkdtemp is POSIX

#include <filesystem>
#include <fstream>
#include <string>

namespace sandpipe {
namespace {

namespace fs = std::filesystem;

// base/workspace with dir/sub, file, and links of every kind; base/outside beside it.
class Translator : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = ::testing::TempDir() + "path_translator_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        base_ = fs::canonical(name);
        workspace_ = base_ / "workspace";
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
    void TearDown() override { fs::remove_all(base_); }

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

    fs::path base_;
    fs::path workspace_;
};

TEST_F(Translator, PathsStandInTheWorkspace) {
    const std::string root = workspace_;
    for (const std::string path : {"", "/", ".", "./", "/.", "dir/..", "/dir/../."})
        EXPECT_EQ(host(path), root) << path;
    EXPECT_EQ(host("dir"), root + "/dir");
    EXPECT_EQ(host("/dir/sub/"), root + "/dir/sub");
    EXPECT_EQ(host("dir//sub/../sub"), root + "/dir/sub");
    EXPECT_EQ(host("file"), root + "/file");
    EXPECT_EQ(host("/etc/passwd"), root + "/etc/passwd");
}

TEST_F(Translator, ALinkBeneathTheWorkspaceIsFollowed) {
    EXPECT_EQ(host("inner"), std::string(workspace_) + "/dir/sub");
    EXPECT_EQ(host("inner/new"), std::string(workspace_) + "/dir/sub/new");
    EXPECT_EQ(host("inner/.."), std::string(workspace_) + "/dir");
}

TEST_F(Translator, PathsNeedNotExist) {
    EXPECT_EQ(host("new/a/b"), std::string(workspace_) + "/new/a/b");
    EXPECT_EQ(host("dir/new"), std::string(workspace_) + "/dir/new");
    EXPECT_EQ(host("file/x"), std::string(workspace_) + "/file/x");
    EXPECT_FALSE(fs::exists(workspace_ / "new"));
}

TEST_F(Translator, RefusalsBySpelling) {
    EXPECT_EQ(refused(std::string("a\0b", 3)), "nul");
    for (const std::string path : {"~", "~/x", "~root"}) EXPECT_EQ(refused(path), "home") << path;
    for (const std::string path : {"C:", "c:\\x", "C:/x", "z:x"}) EXPECT_EQ(refused(path), "drive") << path;
    for (const std::string path : {"\\\\.\\pipe\\x", "\\\\?\\C:\\x", "//./x", "//?/x"}) {
        EXPECT_EQ(refused(path), "device") << path;
    }
    for (const std::string path : {"\\\\server\\share", "//server/share", "///etc"})
        EXPECT_EQ(refused(path), "unc") << path;
}

TEST_F(Translator, NamesThatOnlyLookAlikeAreNames) {
    for (const std::string name : {"a~", "dir/~", "ab:c", "1:", "a\\..\\b", "...", "..a", "\xff"}) {
        EXPECT_EQ(host(name), std::string(workspace_) + "/" + name);
    }
}

TEST_F(Translator, NothingClimbsOut) {
    for (const std::string path :
         {"..", "../workspace", "/..", "dir/../..", "./../outside", "dir/sub/../../../x"}) {
        EXPECT_EQ(refused(path), "escape") << path;
    }
    EXPECT_EQ(refused("new/../dir"), "escape") << "where the parent of a missing directory is, nobody knows";
}

TEST_F(Translator, NoLinkLeadsOut) {
    for (const std::string path :
         {"outer", "outer/deep", "outer/new", "absolute", "absolute/deep", "absolute_inner", "dangling",
          "dangling/x", "loop", "magic", "inner/../../..", "dir/../outer"}) {
        EXPECT_EQ(refused(path), path == "inner/../../.." ? "escape" : "symlink") << path;
    }
    fs::create_symlink("..", workspace_ / "up");
    EXPECT_EQ(refused("up"), "symlink");
    fs::create_symlink("../..", workspace_ / "dir/sub/top");
    EXPECT_EQ(refused("dir/sub/top/../.."), "symlink") << "its spelling stays inside";
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
}

TEST_F(Translator, ALinkToTheWorkspaceIsTheWorkspace) {
    fs::create_symlink("workspace", base_ / "link");
    EXPECT_EQ(PathTranslator(base_ / "link").to_host("dir"), std::string(workspace_ / "dir"));
}

}  // namespace
}  // namespace sandpipe
