#include "exec/interpreters.hpp"

#include <gtest/gtest.h>

namespace sandpipe {
namespace {

TEST(Interpreters, AreKnownWithAndWithoutVersions) {
    for (const char* name : {"sh",         "bash", "dash",       "zsh",  "ksh",     "ksh93", "python",  "python3",
                             "python3.11", "perl", "perl5.36.0", "ruby", "ruby3.1", "node",  "nodejs",  "deno",
                             "bun",        "php",  "php8.2",     "lua",  "lua5.4",  "env",   "busybox", "xargs",
                             "find",       "awk",  "gawk",       "mawk", "sed",     "make",  "timeout"})
        EXPECT_TRUE(is_interpreter(name)) << name;
}

TEST(Interpreters, OthersAreNot) {
    for (const char* name : {"", "git", "ffmpeg", "cat", "shasum", "pythonic", "nodes", "3.11", "-", "finder", "seds"})
        EXPECT_FALSE(is_interpreter(name)) << name;
}

}  // namespace
}  // namespace sandpipe
