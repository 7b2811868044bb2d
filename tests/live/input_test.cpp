#include <sandpipe/error.hpp>

#include <gmock/gmock.h>

#include <asio/experimental/awaitable_operators.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace asio::experimental::awaitable_operators;

class InputTest : public ProcessFixture {
  protected:
    std::string place(const std::string& name) const { return (scratch() / name).string(); }
};

TEST_F(InputTest, IsEmptyUnlessSomethingIsGiven) {
    EXPECT_EQ(exec(command("cat")).out, "");
    EXPECT_EQ(exec(command("readlink").args("/proc/self/fd/0")).out, "/dev/null");
    EXPECT_EQ(exec(command("cat").input(Input::none())).exit_code, 0);
}

TEST_F(InputTest, AMegabyteGoesThroughCat) {
    std::string data(1 << 20, '\0');
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 % 251);
    const BinaryExecResult result = exec(command("cat").input(Input::bytes(data)));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.out == data);
}

TEST_F(InputTest, ReadersThatEndEarlyAreNoError) {
    // SIGPIPE has its default disposition here: the test would die of it.
    struct sigaction action {};
    ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &action), 0);
    ASSERT_EQ(action.sa_handler, SIG_DFL);
    const std::string data(1 << 20, 'x');
    EXPECT_EQ(exec(command("true").input(Input::bytes(data))).exit_code, 0);
    EXPECT_EQ(exec(command("head").args("-c", "3").input(Input::bytes(data))).out, "xxx");
    EXPECT_EQ(exec(sh("exec <&-; sleep .1; echo alive").input(Input::bytes(data))).out, "alive");
    EXPECT_EQ(exec(sh("exit 3").input(Input::bytes(data))).exit_code, 3);
}

TEST_F(InputTest, ABackgroundReaderDoesNotKeepTheResult) {
    const BinaryExecResult result = exec(
        sh("sleep 60 </dev/stdin >/dev/null 2>&1 & exit 0").input(Input::bytes(std::string(1 << 20, 'x'))));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_LT(result.wall, 20s);
    for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
}

TEST_F(InputTest, FromAFile) {
    write_file(place("in"), "from the file");
    EXPECT_EQ(exec(command("cat").input(Input::file(place("in")))).out, "from the file");
    EXPECT_EQ(exec(command("cat").input(Input::file("/dev/null"))).out, "");
}

TEST_F(InputTest, FromAFifoWhoseWriterWaits) {
    ASSERT_EQ(::mkfifo(place("fifo").c_str(), 0600), 0);
    CommandStream writer = start(sh("echo ready; echo from the fifo > " + place("fifo")));
    const auto ready = run(writer.next());
    ASSERT_TRUE(ready && std::holds_alternative<OutputChunk>(*ready));
    // Its open is under way or waits: until then there is no writer.
    BinaryExecResult result;
    EXPECT_TRUE(eventually([&] {
        result = exec(command("cat").input(Input::file(place("fifo"))));
        return result.cause == Cause::finished;
    }));
    EXPECT_EQ(result.out, "from the fifo");
    EXPECT_EQ(run(writer.finish()).exit_code, 0);
}

TEST_F(InputTest, OfNoBytesIsItsEnd) {
    EXPECT_EQ(exec(command("wc").args("-c").input(Input::bytes(""))).out, "0");
}

TEST_F(InputTest, FromATerminal) {
    const unique_fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master || ::grantpt(master.get()) < 0 || ::unlockpt(master.get()) < 0)
        GTEST_SKIP() << "this machine has no pseudo terminals (devpts)";
    const std::string name = ::ptsname(master.get());
    ASSERT_EQ(::write(master.get(), "a line\n", 7), 7);
    const BinaryExecResult result = exec(sh("tty; read line; echo \"got $line\"").input(Input::file(name)));
    EXPECT_EQ(result.out, name + "\ngot a line");
    EXPECT_EQ(exec(sh("[ -e /dev/tty ] && : < /dev/tty").input(Input::file(name))).failed, true)
        << "a command has no controlling terminal";
}

TEST_F(InputTest, FromADescriptorThatTheCallerMayClose) {
    write_file(place("in"), "from the descriptor");
    const int fd = ::open(place("in").c_str(), O_RDONLY | O_CLOEXEC);
    BinaryInvocation invocation = command("cat").input(Input::descriptor(fd));
    ::close(fd);
    EXPECT_EQ(exec(invocation).out, "from the descriptor");
}

TEST_F(InputTest, FromAnotherCommandsPipe) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::optional<CommandStream> writer;
    writer.emplace(start(command("yes").out(Output::descriptor(ends[1]))));
    BinaryInvocation reader = command("head").args("-n", "3").input(Input::descriptor(ends[0]));
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(exec(std::move(reader)).out, "y\ny\ny");
    const CommandResult ended = run(writer->finish());
    ASSERT_TRUE(std::holds_alternative<Signaled>(ended.status));
    EXPECT_EQ(std::get<Signaled>(ended.status).signal, SIGPIPE);
}

TEST_F(InputTest, WrittenByTheCaller) {
    CommandStream stream = start(command("cat").input(Input::stream()));
    std::string echoed;
    for (const char* part : {"one\n", "two\n"}) {
        EXPECT_TRUE(run(stream.write(part)));
        const auto event = run(stream.next());
        ASSERT_TRUE(event && std::holds_alternative<OutputChunk>(*event));
        echoed += std::get<OutputChunk>(*event).data;
    }
    EXPECT_EQ(echoed, "one\ntwo\n");
    run(stream.close_input());
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
}

TEST_F(InputTest, AWriteWaitsForTheCommandAndTellsOfItsEnd) {
    CommandStream stream = start(sh("sleep .2; head -c 200000 | wc -c").input(Input::stream()));
    EXPECT_TRUE(run(stream.write(std::string(200'000, 'x'))));
    const CommandResult result = run(stream.finish());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_FALSE(run(stream.write("more")));
}

TEST_F(InputTest, AWriteThatNobodyReadsEndsWithTheCommand) {
    CommandStream stream = start(sh("sleep .3").input(Input::stream()));
    EXPECT_FALSE(run(stream.write(std::string(1 << 20, 'x'))));
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
}

TEST_F(InputTest, AStreamThatIsNeverWrittenDoesNotKeepTheCommand) {
    CommandStream stream = start(command("true").input(Input::stream()));
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
}

TEST_F(InputTest, WritingToACommandWithoutAStreamIsAMistake) {
    for (const Input& input : {Input::none(), Input::bytes("x")}) {
        CommandStream stream = start(sh("sleep .1").input(input));
        EXPECT_THROW((void)run(stream.write("y")), Error);
        (void)run(stream.finish());
    }
}

TEST_F(InputTest, ASettledCommandCannotBeWrittenTo) {
    // Nobody could close it: such a command would wait for ever.
    const auto begin = std::chrono::steady_clock::now();
    try {
        const BinaryExecResult result = exec(command("cat").input(Input::stream()).timeout(60s));
        EXPECT_EQ(result.exit_code, 0) << "an end of file at once would do as well as an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST_F(InputTest, AWriteThatIsCancelledLeavesTheCommandRunning) {
    CommandStream stream = start(sh("head -c 5; echo; sleep .2; wc -c").input(Input::stream()));
    asio::steady_timer timer(io(), 100ms);
    const auto first = run(stream.write(std::string(1 << 20, 'x')) || timer.async_wait(asio::use_awaitable));
    EXPECT_EQ(first.index(), 1U);
    EXPECT_TRUE(run(stream.write("end")));
    run(stream.close_input());
    const CommandResult result = run(stream.finish());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.cause, Cause::finished);
}

TEST_F(InputTest, AWriteWaitsBesideNext) {
    // More than the pipes and the queue hold: neither would end without the other.
    constexpr std::size_t kBytes = 4 << 20;
    CommandStream stream = start(command("cat").input(Input::stream()));
    const auto read_all = [](CommandStream& from) -> awaitable<std::size_t> {
        std::size_t bytes = 0;
        while (bytes < kBytes)
            if (const auto event = co_await from.next()) bytes += std::get<OutputChunk>(*event).data.size();
        co_return bytes;
    };
    const auto [written, bytes] = run(stream.write(std::string(kBytes, 'x')) && read_all(stream));
    EXPECT_TRUE(written);
    EXPECT_EQ(bytes, kBytes);
    run(stream.close_input());
    EXPECT_EQ(run(stream.finish()).exit_code, 0);
}

TEST_F(InputTest, InputAndOutputGoOnAtTheSameTime) {
    std::string lines;
    for (int i = 0; i < 200'000; ++i) lines += std::to_string(i) + "\n";
    const BinaryExecResult result = exec(sh("tee /dev/stderr").input(Input::bytes(lines)));
    EXPECT_EQ(result.out.size() + 1, lines.size());
    EXPECT_EQ(result.err.size() + 1, lines.size());
}

}  // namespace
}  // namespace sandpipe::testing
