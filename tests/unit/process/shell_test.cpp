#include <gmock/gmock.h>

#include <sandpipe/error.hpp>
#include <sandpipe/shell.hpp>

namespace sandpipe {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
    return {};
}

TEST(PosixQuote, LeavesPlainWordsAndQuotesTheRest) {
    EXPECT_EQ(posix_quote({}), "");
    EXPECT_EQ(posix_quote({"echo", "-n", "/a/b.c", "x@y:1,2+3_4"}), "echo -n /a/b.c x@y:1,2+3_4");
    EXPECT_EQ(posix_quote({"echo", "a b", "", "it's", "$HOME", "a\nb", "~", "*"}),
              "echo 'a b' '' 'it'\\''s' '$HOME' 'a\nb' '~' '*'");
}

TEST(PosixQuote, QuotesWhatAShellWouldTakeForItsOwn) {
    EXPECT_EQ(posix_quote({"A=1", "if", "-", "time", "%1", "=ls", "{", "!"}),
              "'A=1' 'if' '-' 'time' '%1' '=ls' '{' '!'");
}

TEST(PosixQuote, NamesTheWordWithANul) {
    EXPECT_THAT(complaint([] { (void)posix_quote({"a", "b\0c"s}); }), HasSubstr("argv[1] has a NUL byte at 1"));
}

TEST(ShellInvocation, IsTheLineByTheShell) {
    const BinaryInvocation invocation = shell_invocation("/bin/dash", "echo hi");
    EXPECT_EQ(invocation.fields().program, "/bin/dash");
    EXPECT_THAT(invocation.fields().args, ElementsAre("-c", "echo hi"));
}

TEST(ShellInvocation, NamesANulInTheLine) {
    EXPECT_THAT(complaint([] { (void)shell_invocation("/bin/sh", "echo \0"s); }), HasSubstr("NUL byte at 5"));
}

TEST(ShellInvocation, KnowsFiveShellsByAbsolutePaths) {
    for (const char* shell : {"/bin/sh", "/usr/bin/bash", "/opt/dash", "/bin/zsh", "/bin/ksh"})
        EXPECT_EQ(complaint([&] { check_bin_shell(shell); }), "") << shell;
    for (const char* shell : {"", "sh", "bin/sh", "./bash", "/bin/fish", "/bin/", "/bin/bash/", "/bin/bash.old", "/"})
        EXPECT_THAT(
            complaint([&] { check_bin_shell(shell); }),
            HasSubstr("binShell is \""s + shell + "\"; it must be an absolute path to sh, bash, dash, zsh or ksh"));
    EXPECT_NE(complaint([] { check_bin_shell("/tmp/x\0/bin/sh"s); }), "");
}

}  // namespace
}  // namespace sandpipe
