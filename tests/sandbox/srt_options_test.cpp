#include <gmock/gmock.h>

#include <sandpipe/error.hpp>
#include <sandpipe/local_executor.hpp>
#include <sandpipe/shell.hpp>

#include <unistd.h>

#include <cstdlib>

#include "support/executor_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A variable of the host, for the life of this object.
class HostVariable {
  public:
    HostVariable(std::string name, const std::string& value) : name_(std::move(name)) {
        ::setenv(name_.c_str(), value.c_str(), 1);
    }
    HostVariable(const HostVariable&) = delete;
    HostVariable& operator=(const HostVariable&) = delete;
    ~HostVariable() { ::unsetenv(name_.c_str()); }

  private:
    const std::string name_;
};

class SrtOptions : public ExecutorTest {
  protected:
    /// In a session with these options; a Runtime is made for it, with the environment as it is now.
    std::string out_of(const SrtEnforcerOptions& options, const std::string& line,
                       std::optional<Environment> env = {}) {
        restart();
        const auto sandbox = open(options);
        const auto executor = local_executor(runtime());
        BinaryInvocation invocation = sandbox->shell(line);
        if (env) invocation.env(*env);
        return await(executor->exec(std::move(invocation))).out;
    }
};

TEST_F(SrtOptions, EachShellRunsForReal) {
    const std::pair<const char*, const char*> shells[] = {{"/bin/sh", "sh"},
                                                          {"/bin/bash", "bash"},
                                                          {"/bin/dash", "dash"},
                                                          {"/bin/zsh", "zsh"},
                                                          {"/bin/ksh", "ksh"}};
    for (const auto& [path, name] : shells) {
        if (::access(path, X_OK) != 0) {
            std::printf("skipped: no %s on this machine\n", path);
            continue;
        }
        SrtEnforcerOptions options;
        options.bin_shell = path;
        EXPECT_EQ(out_of(options, "x=1; for i in a b; do x=$x$i; done; echo $x $0"), "1ab "s + path) << name;
    }
}

TEST_F(SrtOptions, OtherShellsAreRefusedByNameWithTheList) {
    for (const std::string shell :
         {"bash", "./bash", "/usr/bin/fish", "/bin/", "", "/usr/bin/python3", "/bin/bash -x"}) {
        SrtEnforcerOptions options;
        options.bin_shell = shell;
        EXPECT_THAT(refusal(options), HasSubstr("E_INVALID_SANDBOX_CONFIG: binShell is \"" + shell +
                                                "\"; it must be an absolute path to sh, bash, dash, zsh or ksh"));
    }
}

TEST_F(SrtOptions, TheListReplacesTheDefault) {
    const HostVariable kept("SANDPIPE_KEPT", "kept"), other("SANDPIPE_OTHER", "other");
    SrtEnforcerOptions options;
    const std::string names = "env | cut -d= -f1 | grep -E '^(PATH|HOME|SANDPIPE.*)$' | sort | tr '\\n' ' '";
    EXPECT_EQ(out_of(options, names), "PATH ");
    // bash itself sets a PATH of its own where it gets none, and does not export it.
    options.env_allow_list = {"SANDPIPE_KEPT", "SANDPIPE_NEVER_SET"};
    EXPECT_EQ(out_of(options, names + "; echo $SANDPIPE_KEPT ${SANDPIPE_NEVER_SET-unset}"), "SANDPIPE_KEPT kept unset");
    options.env_allow_list = {};
    EXPECT_EQ(out_of(options, names), "");
    options.inherit_host_env = true;
    EXPECT_THAT(out_of(options, names),
                ::testing::AllOf(HasSubstr("SANDPIPE_KEPT"), HasSubstr("SANDPIPE_OTHER"), HasSubstr("PATH")));
}

TEST_F(SrtOptions, NamesThatNoVariableCanHaveAreRefusedAtConstruction) {
    for (const std::string& name : {""s, "="s, "A=B"s, "A\0B"s}) {
        SrtEnforcerOptions options;
        options.env_allow_list = {"PATH", name};
        EXPECT_THAT(refusal(options), HasSubstr("E_INVALID_SANDBOX_CONFIG: envAllowList[1]")) << name;
    }
}

TEST_F(SrtOptions, TheCallsOwnVariablesComeLast) {
    const HostVariable mine("SANDPIPE_KEPT", "of the host");
    SrtEnforcerOptions options;
    options.env_allow_list = {"PATH", "SANDPIPE_KEPT"};
    const std::string show = "echo $SANDPIPE_KEPT $TMPDIR $GIT_CONFIG_COUNT $GIT_CONFIG_KEY_0 $GIT_CONFIG_VALUE_0";
    EXPECT_EQ(out_of(options, show), "of the host /tmp 1 safe.directory " + workspace());
    EXPECT_EQ(out_of(options, show, Environment::empty().set("SANDPIPE_KEPT", "of the call").set("TMPDIR", "/dev/shm")),
              "of the call /dev/shm 1 safe.directory " + workspace());
    EXPECT_EQ(out_of(options, "echo ${SANDPIPE_KEPT-unset}", Environment::empty().unset("SANDPIPE_KEPT")), "unset");
    // git's own settings of the call keep their places; ours follow.
    EXPECT_EQ(out_of(options, show + " $GIT_CONFIG_KEY_1",
                     Environment::empty()
                         .set("GIT_CONFIG_COUNT", "1")
                         .set("GIT_CONFIG_KEY_0", "a.b")
                         .set("GIT_CONFIG_VALUE_0", "c")),
              "of the host /tmp 2 a.b c safe.directory");
}

TEST_F(SrtOptions, NoValueOfTheHostIsInAnyFileOfProc) {
    const std::string secret = "s3cret-" + std::to_string(::getpid());
    const HostVariable hidden("SANDPIPE_SECRET", secret);
    // No argument may have it: that is in /proc/self/cmdline. So it comes by stdin.
    const std::string search =
        "grep -rlsa -f /dev/stdin /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ /proc/[0-9]*/cmdline"
        " /proc/[0-9]*/stat* /proc/[0-9]*/mountinfo /proc/[0-9]*/maps /proc/sys /proc/cmdline /proc/self/net "
        "/proc/sysvipc";
    for (const bool given : {false, true}) {
        restart();
        SrtEnforcerOptions options;
        // The positive control: a variable that is let through is found.
        if (given) options.env_allow_list.emplace_back("SANDPIPE_SECRET");
        const auto sandbox = open(options);
        const auto executor = local_executor(runtime());
        BinaryInvocation invocation = sandbox->shell(search).input(Input::bytes(secret + "\n"));
        const BinaryExecResult result = await(executor->exec(std::move(invocation)));
        if (given)
            EXPECT_THAT(result.out, HasSubstr("/environ"));
        else
            EXPECT_EQ(result.out, "");
    }
}

}  // namespace
}  // namespace sandpipe::testing
