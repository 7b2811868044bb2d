#include "launcher/supervisor/initial_settings.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sandpipe::launcher {
namespace {

const std::string kCore = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

bool in_core(const std::string& line) { return are_initial_settings(kCore + line + "\n"); }
bool in_remote(const std::string& line) {
    return are_initial_settings(kCore + "[remote \"origin\"]\n\t" + line + "\n");
}

TEST(InitialSettings, WhatGitWrites) {
    EXPECT_TRUE(are_initial_settings(""));
    EXPECT_TRUE(are_initial_settings(kCore));
    EXPECT_TRUE(in_core("\tlogallrefupdates = true"));
    EXPECT_TRUE(in_core("\tignoreCase = true"));
    EXPECT_TRUE(in_core("[extensions]\n\tobjectformat = sha256"));
    for (const char* url : {"https://h.example/r.git", "ssh://git@h:22/r", "git@h:r", "/srv/a b/r", "../r",
                            "file:///srv/r", "ssh://[::1]/r", "/srv/r\xc3\xa9"})
        EXPECT_TRUE(in_remote(std::string("url = ") + url)) << url;
    EXPECT_TRUE(in_remote("fetch = +refs/heads/*:refs/remotes/origin/*"));
    EXPECT_TRUE(in_remote("tagOpt = --no-tags"));
    EXPECT_TRUE(in_core("[branch \"a/b\"]\n\tremote = origin\n\tmerge = refs/heads/a/b"));
}

TEST(InitialSettings, NothingThatRunsAProgram) {
    for (const char* line : {"\tfsmonitor = ./x", "\thooksPath = h", "\tsshCommand = x", "\teditor = x",
                             "\tpager = x", "\tworktree = /", "[alias]\n\tst = !x", "[include]\n\tpath = x",
                             "[includeIf \"gitdir:/\"]\n\tpath = x", "[filter \"f\"]\n\tclean = x",
                             "[credential]\n\thelper = x", "[diff]\n\texternal = x", "[user]\n\tname = x",
                             "[extensions]\n\tworktreeConfig = true", "[url \"x\"]\n\tinsteadOf = y"})
        EXPECT_FALSE(in_core(line)) << line;
    for (const char* line : {"uploadpack = x", "receivepack = x", "vcs = x", "proxy = x", "promisor = true",
                             "url = ext::sh -c x", "url = foo::x", "url = foo://x", "url = --upload-pack=x"})
        EXPECT_FALSE(in_remote(line)) << line;
}

TEST(InitialSettings, NothingInDoubt) {
    for (const char* line : {"\tbare",
                             "\tbare=false",
                             "\tbare = ",
                             "\tbare = maybe",
                             "# x",
                             "; x",
                             "\tbare = false # x",
                             "\tbare = \"false\"",
                             "\tlogallrefupdates = true\\",
                             "[core] fsmonitor = x",
                             "[core",
                             "core]",
                             "[]",
                             "[ \"x\"]",
                             "[core]]",
                             "[core \"x\"]\n\tbare = false",
                             "[remote]\n\turl = x",
                             "[remote.origin]\n\turl = x",
                             "[remote \"o\\\"]\n\turl = x",
                             "[remote \"\"]\n\turl = x",
                             "\t\tbare = false",
                             "\tbare = false\r",
                             "",
                             "\x01"})
        EXPECT_FALSE(in_core(line)) << line;
    EXPECT_FALSE(are_initial_settings("\xef\xbb\xbf" + kCore));
    EXPECT_FALSE(are_initial_settings("bare = false\n"));
    EXPECT_FALSE(are_initial_settings(kCore + "\tbare = false")) << "the end is missing";
    EXPECT_FALSE(are_initial_settings(kCore + std::string("\0\n", 2)));
    EXPECT_FALSE(in_remote("url = a\x01"));
}

}  // namespace
}  // namespace sandpipe::launcher
