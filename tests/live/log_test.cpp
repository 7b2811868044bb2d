#include <gmock/gmock.h>

#include <sandpipe/sandboxed_executor.hpp>

#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "process/runtime_core.hpp"
#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Log : public ProcessFixture {
  protected:
    struct Entry {
        LogLevel level;
        std::uint64_t command_id;
        std::string text;
    };

    /// A Runtime whose records are kept.
    void keep_records() {
        RuntimeOptions options;
        options.logger = [this](const LogRecord& record) {
            entries_.push_back({record.level, record.command_id, std::string(record.text)});
        };
        use(options);
    }
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> all;
        for (const Entry& entry : entries_) all.push_back(entry.text);
        return all;
    }

    std::vector<Entry> entries_;
};

TEST_F(Log, TellsStartEscalationAndEndOfACommandByItsNumber) {
    keep_records();
    StopPolicy policy;
    policy.grace = 100ms;
    const Environment env = Environment::standard().set("SECRET", "hunter2");
    const std::string line = "trap '' TERM; echo said by the command; while :; do :; done";
    const BinaryExecResult result = exec(sh(line).env(env).timeout(200ms).stop(policy));
    EXPECT_TRUE(result.forced);
    EXPECT_THAT(texts(), ElementsAre(HasSubstr("started "), "timed out", "sending SIGTERM", "sending SIGKILL",
                                     "settled: timed_out"));
    for (const Entry& entry : entries_) {
        EXPECT_EQ(entry.command_id, entries_.front().command_id);
        EXPECT_NE(entry.command_id, 0U);
    }
    for (const char* secret : {"hunter2", "said by"}) EXPECT_THAT(texts(), Not(Contains(HasSubstr(secret))));
}

TEST_F(Log, TellsOfTheLossOfALauncher) {
    keep_records();
    const ResultBox box = spawn(sh("sleep 600"));
    ASSERT_TRUE(drive_until([this] { return !entries_.empty(); }));
    for (const pid_t launcher : launchers_of(::getpid())) ::kill(launcher, SIGKILL);
    ASSERT_TRUE(drive_until([&] { return box->has_value(); }));
    EXPECT_THAT(texts(), Contains(HasSubstr("lost")));
    (void)exec(command("true"));
    EXPECT_THAT(texts(), Contains(HasSubstr("another was started")));
    for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);  // a plain command outlives a killed helper
}

TEST_F(Log, OfTheCommandLineIsOffUnlessAskedFor) {
    const auto log_of = [](std::vector<std::string> options) {
        std::vector<std::string> argv{SANDPIPE_CLI, "exec"};
        argv.insert(argv.end(), options.begin(), options.end());
        for (const char* word : {"--timeout", "0.2", "--", "sleep", "60"}) argv.emplace_back(word);
        return run_program(argv, {}).err;
    };
    EXPECT_THAT(log_of({}), Not(HasSubstr("started")));
    EXPECT_THAT(log_of({"--log", "warning"}), Not(HasSubstr("started")));
    EXPECT_THAT(log_of({"--log", "info"}),
                ::testing::AllOf(HasSubstr("started sleep"), HasSubstr("settled"), Not(HasSubstr("SIGTERM"))));
    EXPECT_THAT(log_of({"--log", "debug"}), HasSubstr("sending SIGTERM"));
}

struct Unchanged : BinarySandbox {
    awaitable<BinaryInvocation> wrap(BinaryInvocation invocation) override { co_return invocation; }
};

TEST_F(Log, ABypassIsInTheRuntimesOwn) {
    keep_records();
    for (const bool lets_out : {false, true}) {
        entries_.clear();
        SandboxedExecutorOptions wrapping;
        wrapping.inner = local_executor(runtime());
        wrapping.sandbox = std::make_shared<Unchanged>();
        wrapping.bypass = [lets_out](const std::string&) { return lets_out; };
        EXPECT_EQ(run(sandboxed_executor(std::move(wrapping))->exec(command("true"))).exit_code, 0);
        const auto told = Contains(HasSubstr("bypass: true runs outside of the sandbox"));
        if (lets_out)
            EXPECT_THAT(texts(), told);
        else
            EXPECT_THAT(texts(), Not(told));
    }
}

TEST_F(Log, ASinkThatThrowsOrUsesTheRuntimeHarmsNothing) {
    int called = 0;
    RuntimeOptions options;
    options.logger = [&](const LogRecord&) {
        ++called;
        (void)runtime().core()->launcher();
        throw std::runtime_error("a full disk");
    };
    use(options);
    EXPECT_EQ(exec(sh("echo one; exit 3")).exit_code, 3);
    for (const pid_t launcher : launchers_of(::getpid())) ::kill(launcher, SIGKILL);
    ASSERT_TRUE(eventually([] { return launchers_of(::getpid()).empty(); }));
    EXPECT_EQ(exec(command("echo").args("again")).out, "again");
    EXPECT_GT(called, 4);
}

TEST_F(Log, ARecordIsOneLineWhateverACommandIsCalled) {
    std::string log;
    RuntimeOptions options;
    options.logger = [&](const LogRecord& record) { log.append(record.text); };
    use(options);
    const auto odd = scratch() / "a\ncommand 99: denied nothing\x1b[31m";
    std::filesystem::create_symlink("/bin/true", odd);
    EXPECT_EQ(exec(command(odd.string())).exit_code, 0);
    EXPECT_THAT(log, ::testing::HasSubstr("command 99"));
    EXPECT_EQ(log.find_first_of("\n\x1b"), std::string::npos) << log;
}

}  // namespace
}  // namespace sandpipe::testing
