#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <stdexcept>

#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

/// What the command says of starts that fail, in both forms.
class CliFailure : public ProcessFixture {
  protected:
    static ProgramResult cli(std::vector<std::string> options, const std::vector<std::string>& argv) {
        std::vector<std::string> all{SANDPIPE_CLI, "exec"};
        all.insert(all.end(), options.begin(), options.end());
        all.emplace_back("--");
        all.insert(all.end(), argv.begin(), argv.end());
        return run_program(all);
    }
    /// Its status and its `start_failure`.
    static Json failure(const std::vector<std::string>& argv, int status) {
        const ProgramResult result = cli({"--json"}, argv);
        EXPECT_EQ(result.status, status);
        const Json end = Json::parse(result.out);
        EXPECT_EQ(end["status"], "not_started");
        EXPECT_EQ(end["cause"], "not_started");
        EXPECT_EQ(end["failed"], true);
        return end["start_failure"];
    }
    std::string place(const std::string& name) const { return (scratch() / name).string(); }
};

/// A program whose name is so long that, beside it, the command line tool has fewer arguments than its command: the
/// name is there twice for a program (argv and its path, execve(2)), and once as an argument.
class TooLong : public CliFailure {
  protected:
    void SetUp() override {
        CliFailure::SetUp();
        fs::path directory = scratch();
        while (directory.string().size() < 3500) directory /= std::string(200, 'd');
        fs::create_directories(directory);
        fs::copy_file("/bin/true", directory / "true");
        argv_.push_back((directory / "true").string());
    }
    /// As much as the tool itself can be started with.
    ProgramResult fullest() {
        for (std::size_t count = static_cast<std::size_t>(::sysconf(_SC_ARG_MAX)) / 1000; count > 0; --count) {
            argv_.resize(1);
            argv_.resize(1 + count, std::string(1000, 'z'));
            argv_.back() = std::string(2000, 'l');
            try {
                return cli({"--json"}, argv_);
            } catch (const std::runtime_error&) {
                // E2BIG for the tool: less, then.
            }
        }
        throw std::runtime_error("not even one argument fits");
    }
    std::vector<std::string> argv_;
};

TEST_F(TooLong, ArgumentsComeWithTheirSizes) {
    const ProgramResult result = fullest();
    EXPECT_EQ(result.status, 126);
    const Json failure = Json::parse(result.out)["start_failure"];
    EXPECT_EQ(failure["stage"], "arguments");
    EXPECT_EQ(failure["errno"], "E2BIG");
    std::size_t bytes = 0;
    for (const std::string& argument : argv_) bytes += argument.size() + 1;
    const std::string hint = failure["hint"];
    EXPECT_THAT(hint, HasSubstr("argv " + std::to_string(bytes) + " bytes"));
    EXPECT_THAT(hint, HasSubstr("longest argv[0] with " + std::to_string(argv_[0].size()) + " bytes"));
    EXPECT_THAT(hint, HasSubstr("environment "));
    EXPECT_THAT(hint, HasSubstr("longest env["));
}

TEST_F(CliFailure, EachKindHasItsStatus) {
    write_file(place("text"), "echo never\n", 0755);
    write_file(place("plain"), "#!/bin/sh\n", 0644);
    write_file(place("orphan"), "#!/no/such/interpreter\n", 0755);
    write_file(place("file"), "");
    EXPECT_EQ(failure({place("text")}, 126)["errno"], "ENOEXEC");
    EXPECT_EQ(failure({place("plain")}, 126)["errno"], "EACCES");
    EXPECT_EQ(failure({scratch().string()}, 126)["errno"], "EACCES");
    EXPECT_EQ(failure({place("orphan")}, 127)["stage"], "interpreter");
    EXPECT_EQ(failure({place("none")}, 127)["stage"], "program");
    EXPECT_EQ(failure({place("file/below")}, 127)["errno"], "ENOTDIR");
    EXPECT_EQ(failure({std::string(300, 'x')}, 127)["errno"], "ENOENT");
}

TEST_F(CliFailure, AHostWithTooLittleSaysSo) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the vptr check of UBSan needs free descriptors, and calls every object invalid without them";
#endif
    for (const std::string limit : {"ulimit -n 5", "ulimit -n 7", "ulimit -n 8", "ulimit -n 12", "ulimit -f 100"}) {
        const ProgramResult result =
            run_program({"/bin/sh", "-c", limit + "; exec " + SANDPIPE_CLI + " exec --json -- true"});
        EXPECT_EQ(result.status, 125) << limit << result.err;
        const Json end = Json::parse(result.out, nullptr, false);
        ASSERT_TRUE(end.is_object()) << limit << result.out << result.err;
        EXPECT_EQ(end["cause"], "not_started") << limit;
        EXPECT_EQ(end["start_failure"]["stage"], "resources") << limit << result.out;
        const std::string option = limit.substr(0, limit.rfind(' '));
        EXPECT_NE(end["start_failure"]["hint"].get<std::string>().find(option), std::string::npos) << result.out;
        const ProgramResult told = run_program({"/bin/sh", "-c", limit + "; exec " + SANDPIPE_CLI + " exec -- true"});
        EXPECT_EQ(told.status, 125) << limit << told.err;
        EXPECT_NE(told.err.find(option), std::string::npos) << limit << told.err;
    }
}

TEST_F(CliFailure, EachNumberOfDescriptorsSufficesOrIsCalledTooSmall) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the vptr check of UBSan needs free descriptors, and calls every object invalid without them";
#endif
    int started = 0;
    int short_of = 0;
    for (int count = 5; count < 40; ++count) {
        const std::string limit = "ulimit -n " + std::to_string(count);
        const ProgramResult result =
            run_program({"/bin/sh", "-c", limit + "; exec " + SANDPIPE_CLI + " exec --json -- true"});
        const Json end = Json::parse(result.out, nullptr, false);
        ASSERT_TRUE(end.is_object()) << limit << result.out << result.err;
        started += result.status == 0;
        if (result.status == 0) continue;
        ++short_of;
        EXPECT_EQ(end["start_failure"]["stage"], "resources") << limit << result.out;
        EXPECT_EQ(end["start_failure"]["errno"], "EMFILE") << limit << result.out;
    }
    EXPECT_GT(started, 0);
    EXPECT_GT(short_of, 0);
}

TEST_F(CliFailure, ACwdThatIsGone) {
    fs::create_directory(scratch() / "gone");
    const std::string line =
        "cd " + place("gone") + " && rmdir ../gone && exec " + SANDPIPE_CLI + " exec --json -- true";
    const ProgramResult result = run_program({"/bin/sh", "-c", line});
    EXPECT_EQ(result.status, 125);
    EXPECT_EQ(Json::parse(result.out)["start_failure"]["stage"], "cwd");
}

TEST_F(CliFailure, OutputThatCannotBeWritten) {
    const std::string tool = SANDPIPE_CLI;
    for (const char* line : {" exec -- echo out > /dev/full", " exec --json -- true > /dev/full",
                             " exec -- sh -c 'echo err >&2' 2> /dev/full", " exec -- echo out >&-"}) {
        const ProgramResult result = run_program({"/bin/sh", "-c", tool + line});
        EXPECT_EQ(result.status, 125) << line;
    }
}

TEST_F(CliFailure, WithoutStandardDescriptorsThatItDoesNotNeed) {
    for (const char* closed : {"<&-", "2>&-", "<&- 2>&-"}) {
        const std::string line = std::string(SANDPIPE_CLI) + " exec -- sh -c 'echo out; cat; echo err >&2; exit 3' ";
        const ProgramResult result = run_program({"/bin/sh", "-c", line + closed});
        EXPECT_EQ(result.status, 3) << closed;
        EXPECT_EQ(result.out, "out\n") << closed;
    }
}

TEST_F(CliFailure, StandardStreamsOfEveryKind) {
    const std::string tool = std::string(SANDPIPE_CLI) + " exec ";
    const auto out_of = [](const std::string& line) { return run_program({"/bin/sh", "-c", line}).out; };
    EXPECT_EQ(out_of("echo in | " + tool + "--stdin - -- cat /dev/stdin"), "in\n");
    EXPECT_EQ(out_of(tool + "--stdin - -- cat < /dev/null"), "");
    const std::string both = place("both");
    EXPECT_EQ(out_of(tool + "-- sh -c 'echo o; echo e >&2' > " + both + " 2>&1; sort " + both), "e\no\n");
    EXPECT_EQ(out_of(tool + "-- sh -c 'echo x > /dev/stdout; echo y > /dev/stderr' 2>&1 | sort"), "x\ny\n");
    EXPECT_EQ(out_of("trap '' PIPE; " + tool + "-- sh -c 'yes | head -n 1; grep SigIgn /proc/self/status'"),
              "y\nSigIgn:\t0000000000000000\n");
}

}  // namespace
}  // namespace sandpipe::testing
