#include "process/start_request.hpp"

#include <sandpipe/error.hpp>

#include <gmock/gmock.h>

#include <cerrno>

namespace sandpipe::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Strings = std::vector<std::string>;

TEST(Candidates, ANameWithASlashIsItself) {
    EXPECT_THAT(candidates("/bin/ls", {"PATH=/a"}, {}), ElementsAre("/bin/ls"));
    EXPECT_THAT(candidates("./tool", {"PATH=/a"}, {}), ElementsAre("./tool"));
    EXPECT_THAT(candidates("d/tool", {}, {}), ElementsAre("d/tool"));
}

TEST(Candidates, ABareNameIsLookedUpInTheCommandsPath) {
    EXPECT_THAT(candidates("ls", {"X=1", "PATH=/a:/b"}, {"PATH=/c"}), ElementsAre("/a/ls", "/b/ls"));
}

TEST(Candidates, WithoutOneInTheRuntimesAndThenInTheUsualPlaces) {
    EXPECT_THAT(candidates("ls", {"HOME=/h"}, {"PATH=/c"}), ElementsAre("/c/ls"));
    EXPECT_THAT(candidates("ls", {}, {}), ::testing::Contains("/usr/bin/ls"));
}

TEST(Candidates, EmptyDirectoriesMeanTheCwd) {
    EXPECT_THAT(candidates("ls", {"PATH="}, {"PATH=/c"}), ElementsAre("./ls"));
    EXPECT_THAT(candidates("ls", {"PATH=:/a:"}, {}), ElementsAre("./ls", "/a/ls", "./ls"));
}

TEST(FindVariable, TakesWholeNamesOnly) {
    const Strings env{"PATHS=no", "PATH=yes", "EMPTY="};
    EXPECT_STREQ(find_variable(env, "PATH"), "yes");
    EXPECT_STREQ(find_variable(env, "EMPTY"), "");
    EXPECT_EQ(find_variable(env, "PAT"), nullptr);
}

TEST(CertainFailure, IsOnlyWhatTheKernelNeverTakes) {
    constexpr std::size_t kMost = 6 * 1024 * 1024;
    wire::StartCommand request;
    request.argv = {"x", std::string(kMost - 2 - 1 - 3 * sizeof(char*) - 2, 'x')};
    request.env = {"E"};
    EXPECT_FALSE(certain_failure(request));
    request.env = {"EE"};
    ASSERT_TRUE(certain_failure(request));
    EXPECT_EQ(certain_failure(request)->stage, Stage::arguments);
    EXPECT_EQ(certain_failure(request)->error, E2BIG);
    request.argv = {"x"};
    request.cwd = std::string(4095, '/');
    EXPECT_FALSE(certain_failure(request));
    request.cwd += '/';
    ASSERT_TRUE(certain_failure(request));
    EXPECT_EQ(certain_failure(request)->stage, Stage::cwd);
    EXPECT_EQ(certain_failure(request)->error, ENAMETOOLONG);
}

InvocationFields good() { return command("true").fields(); }

void expect_refused(const InvocationFields& fields, const std::string& named) {
    try {
        check_invocation(fields);
        ADD_FAILURE() << "not refused: " << named;
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        EXPECT_THAT(error.text(), HasSubstr(named));
    }
}

TEST(CheckInvocation, TakesWhatIsRight) {
    EXPECT_NO_THROW(check_invocation(good()));
    InvocationFields fields = good();
    fields.timeout = kNoTimeout;
    fields.stop.grace = 0s;
    fields.args = {"", "=", "\xff"};
    EXPECT_NO_THROW(check_invocation(fields));
}

TEST(CheckInvocation, NamesTheFirstThingThatIsWrong) {
    const std::string nul("a\0b", 3);
    InvocationFields fields = good();
    fields.program = "";
    expect_refused(fields, "empty");
    fields = good();
    fields.program = nul;
    expect_refused(fields, "at 1");
    fields = good();
    fields.args = {"x", nul};
    expect_refused(fields, "args[1]");
    fields = good();
    fields.cwd = nul;
    expect_refused(fields, "cwd");
    fields = good();
    fields.timeout = 0ns;
    expect_refused(fields, "timeout");
    fields = good();
    fields.start_timeout = -1ns;
    expect_refused(fields, "start_timeout");
    for (const int signal : {0, -1, 65, 1000}) {
        fields = good();
        fields.stop.signal = signal;
        expect_refused(fields, "stop.signal");
    }
    fields = good();
    fields.input = Input::file(nul);
    expect_refused(fields, "NUL");
    fields = good();
    fields.err = Output::file(nul, FileMode::append);
    expect_refused(fields, "NUL");
}

TEST(StartHint, CarriesTheSizesOfWhatIsTooLong) {
    wire::StartCommand request;
    request.argv = {"prog", std::string(1000, 'x'), "y"};
    request.env = {"A=1", "LONG=" + std::string(2000, 'z')};
    const std::string hint = start_hint({Stage::arguments, E2BIG, "prog"}, request);
    EXPECT_THAT(hint, HasSubstr("argv 1008 bytes, longest argv[1] with 1000 bytes"));
    EXPECT_THAT(hint, HasSubstr("environment 2010 bytes, longest env[1] with 2005 bytes"));
}

TEST(StartHint, SaysSomethingForEveryCommonFailure) {
    wire::StartCommand request;
    request.argv = {"name"};
    for (const wire::Failure& failure :
         {wire::Failure{Stage::cwd, ENOENT, "/d"}, wire::Failure{Stage::program, ENOENT, "name"},
          wire::Failure{Stage::program, ENOEXEC, "name"}, wire::Failure{Stage::program, EACCES, "/d"},
          wire::Failure{Stage::program, ETXTBSY, "f"}, wire::Failure{Stage::interpreter, ENOENT, "f"},
          wire::Failure{Stage::permission, EACCES, "f"}, wire::Failure{Stage::input, EISDIR, "stdin"},
          wire::Failure{Stage::resources, EAGAIN, "clone"}})
        EXPECT_NE(start_hint(failure, request), "") << to_string(failure.stage);
}

}  // namespace
}  // namespace sandpipe::detail
