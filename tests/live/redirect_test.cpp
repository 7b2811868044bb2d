#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>

#include "support/process_fixture.hpp"
#include "support/run_program.hpp"

namespace sandpipe::testing {
namespace {

class Redirect : public ProcessFixture {
  protected:
    std::string place(const std::string& name) const { return (scratch() / name).string(); }
};

TEST_F(Redirect, DiscardedOutputGoesNowhere) {
    const BinaryExecResult result =
        exec(sh("[ /dev/stdout -ef /dev/null ] && echo null >&2; echo out").out(Output::discard()));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "null");
    EXPECT_EQ(result.out_facts.bytes, 0U);
}

TEST_F(Redirect, AFileIsTruncatedOrAppendedTo) {
    write_file(place("file"), "123456\n");
    (void)exec(sh("echo 123").out(Output::file(place("file"), FileMode::truncate)));
    EXPECT_EQ(read_file(place("file")), "123\n");
    (void)exec(sh("echo 456").out(Output::file(place("file"), FileMode::append)));
    EXPECT_EQ(read_file(place("file")), "123\n456\n");
    (void)exec(sh("echo new >&2").err(Output::file(place("made"), FileMode::append)));
    EXPECT_EQ(read_file(place("made")), "new\n");
}

TEST_F(Redirect, BothStreamsToOneFile) {
    const Output appended = Output::file(place("both"), FileMode::append);
    (void)exec(sh("echo 1; echo 2 >&2; echo 3; echo 4 >&2").out(appended).err(appended));
    EXPECT_EQ(read_file(place("both")), "1\n2\n3\n4\n");
    (void)exec(sh("echo 1; echo 2 >&2; echo 3")
                   .order(Order::merged)
                   .out(Output::file(place("merged"), FileMode::truncate)));
    EXPECT_EQ(read_file(place("merged")), "1\n2\n3\n");
}

TEST_F(Redirect, BothStreamsToOneDescriptor) {
    const int fd = ::open(place("both").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    BinaryInvocation invocation =
        sh("echo 1; echo 2 >&2; echo 3").out(Output::descriptor(fd)).err(Output::descriptor(fd));
    ::close(fd);
    EXPECT_EQ(exec(std::move(invocation)).exit_code, 0);
    EXPECT_EQ(read_file(place("both")), "1\n2\n3\n");
}

TEST_F(Redirect, APipeThatDoesNotBlockIsLentAsOneThatDoes) {
    int in[2], out[2];
    ASSERT_EQ(::pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    ASSERT_EQ(::pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    const unique_fd read_end(in[0]), write_end(in[1]), taken(out[0]), given(out[1]);
    const auto late = std::async(std::launch::async, [&] {
        // Nothing is there yet when the command asks.
        EXPECT_TRUE(eventually([this] { return !own_commands().empty(); }, 10s));
        EXPECT_EQ(::write(write_end.get(), "late\n", 5), 5);
    });
    // More than the pipe holds, and its reader comes when it is full.
    const BinaryInvocation invocation = sh("read line; echo $line; head -c 300000 /dev/zero >&2")
                                            .input(Input::descriptor(read_end.get()))
                                            .err(Output::descriptor(given.get()));
    const ResultBox box = spawn(invocation);
    std::size_t bytes = 0;
    char buffer[4096];
    EXPECT_TRUE(drive_until(
        [&] {
            const ssize_t got = ::read(taken.get(), buffer, sizeof buffer);
            if (got > 0) bytes += static_cast<std::size_t>(got);
            return box->has_value() && got <= 0;
        },
        20s));
    EXPECT_EQ((*box)->exit_code, 0);
    EXPECT_EQ((*box)->out, "late");
    EXPECT_EQ(bytes, 300000U);
    EXPECT_TRUE(::fcntl(read_end.get(), F_GETFL) & O_NONBLOCK) << "the host's own stays as it was";
}

TEST_F(Redirect, AHeldOpenFileIsNoHeldPipe) {
    const BinaryExecResult result =
        exec(sh("sleep 5 & exit 0").out(Output::file(place("f"), FileMode::truncate)).err(Output::discard()));
    EXPECT_FALSE(result.pipe_held_open);
    for (const pid_t pid : own_commands()) ::kill(pid, SIGKILL);
}

TEST_F(Redirect, TheModeOfANewFileIsTheHostsUmasksAffair) {
    const mode_t before = ::umask(027);
    (void)exec(sh("echo").out(Output::file(place("file"), FileMode::truncate)));
    ::umask(before);
    struct stat facts {};
    ASSERT_EQ(::stat(place("file").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST_F(Redirect, TheHostsOwnFlagsAreNotChanged) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    (void)exec(sh("echo x").out(Output::descriptor(ends[1])));
    EXPECT_EQ(::fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(Redirect, InheritedStreams) {
    const ProgramResult host = run_program({program("host_inherit"), "as they are"});
    EXPECT_EQ(host.status, 0);
    EXPECT_EQ(host.out, "out\n");
    EXPECT_EQ(host.err, "err\n");
}

TEST_F(Redirect, WhatIsNoStreamIsNotHandedOn) {
    for (const int made : {::epoll_create1(EPOLL_CLOEXEC), ::eventfd(0, EFD_CLOEXEC)}) {
        for (BinaryInvocation invocation :
             {sh("true").input(Input::descriptor(made)), sh("true").out(Output::descriptor(made)),
              sh("true").err(Output::descriptor(made))}) {
            const BinaryExecResult result = exec(std::move(invocation));
            ASSERT_TRUE(std::holds_alternative<NotStarted>(result.status));
            const auto& why = std::get<NotStarted>(result.status);
            EXPECT_EQ(why.error, std::errc::bad_file_descriptor);
            EXPECT_THAT(why.hint, ::testing::HasSubstr("epoll"));
        }
        ::close(made);
    }
    // The loop of the host takes the number of a closed stream.
    const ProgramResult host = run_program({program("host_inherit"), "closed"});
    EXPECT_EQ(host.status, 0) << host.err;
    EXPECT_THAT(host.err, ::testing::HasSubstr("the host's stdout"));
}

TEST_F(Redirect, SwappedStreams) {
    const ProgramResult host = run_program({program("host_inherit"), "swapped"});
    EXPECT_EQ(host.status, 0);
    EXPECT_EQ(host.out, "err\n");
    EXPECT_EQ(host.err, "out\n");
}

class Env : public ProcessFixture {
  protected:
    /// What `env` prints.
    std::vector<std::string> environment_of(std::optional<Environment> env) {
        BinaryInvocation invocation = command("/usr/bin/env");
        if (env) invocation.env(*env);
        std::istringstream text(exec(std::move(invocation)).out);
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }
};

TEST_F(Env, StandardNamesAndNothingElse) {
    ::setenv("SANDPIPE_TEST_SECRET", "token", 1);
    ::setenv("LANG", "C.UTF-8", 1);
    const std::vector<std::string> names{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"};
    const auto lines = environment_of({});
    for (const std::string& line : lines)
        EXPECT_THAT(names, ::testing::Contains(line.substr(0, line.find('=')))) << line;
    EXPECT_THAT(lines, ::testing::Contains("LANG=C.UTF-8"));
    EXPECT_THAT(lines, ::testing::Contains("HOME=" + scratch().string()));
    ::unsetenv("SANDPIPE_TEST_SECRET");
}

TEST_F(Env, Bases) {
    ::setenv("SANDPIPE_TEST_A", "a", 1);
    ::setenv("SANDPIPE_TEST_B", "", 1);
    EXPECT_TRUE(environment_of(Environment::empty()).empty());
    EXPECT_THAT(environment_of(Environment::names({"SANDPIPE_TEST_B", "NOT_THERE"})),
                ::testing::ElementsAre("SANDPIPE_TEST_B="));
    EXPECT_THAT(environment_of(Environment::inherit_all()), ::testing::Contains("SANDPIPE_TEST_A=a"));
    ::unsetenv("SANDPIPE_TEST_A");
    ::unsetenv("SANDPIPE_TEST_B");
}

TEST_F(Env, ChangesInTheirOrder) {
    EXPECT_THAT(environment_of(Environment::empty().set("A", "1").set("B", "x=y\"z").set("A", "2")),
                ::testing::UnorderedElementsAre("A=2", "B=x=y\"z"));
    EXPECT_TRUE(environment_of(Environment::names({"HOME"}).unset("HOME")).empty());
    EXPECT_THAT(environment_of(Environment::empty().unset("A").set("A", "3")), ::testing::ElementsAre("A=3"));
}

TEST_F(Env, IsASnapshotOfTheRuntimesBeginning) {
    ::setenv("SANDPIPE_TEST_LATE", "before", 1);
    (void)runtime();
    ::setenv("SANDPIPE_TEST_LATE", "after", 1);
    EXPECT_THAT(environment_of(Environment::names({"SANDPIPE_TEST_LATE"})),
                ::testing::ElementsAre("SANDPIPE_TEST_LATE=before"));
    ::unsetenv("SANDPIPE_TEST_LATE");
}

TEST_F(Env, TheExecutorsDefault) {
    LocalExecutorOptions options;
    options.env = Environment::empty().set("ONLY", "this");
    const auto bare = local_executor(runtime(), options);
    EXPECT_THAT(run(bare->exec(command("/usr/bin/env"))).out, ::testing::HasSubstr("ONLY=this"));
    EXPECT_THAT(run(bare->exec(command("/usr/bin/env").env(Environment::empty()))).out,
                ::testing::Not(::testing::HasSubstr("ONLY")));
}

TEST_F(Env, TheLaunchersOwnIsEmpty) {
    (void)exec(command("true"));
    for (const pid_t launcher : launchers_of(::getpid()))
        EXPECT_EQ(read_file("/proc/" + std::to_string(launcher) + "/environ"), "");
}

TEST_F(Env, TheCwdIsTheHostsUnlessSaidOtherwise) {
    EXPECT_EQ(exec(command("pwd")).out, std::filesystem::current_path().string());
    EXPECT_EQ(exec(command("pwd").cwd(scratch().string())).out, scratch().string());
    std::filesystem::create_directory(scratch() / "a b");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(scratch());
    EXPECT_EQ(exec(command("pwd").cwd("a b")).out, (scratch() / "a b").string());
    std::filesystem::current_path(before);
}

TEST_F(Env, AHostCwdThatIsGoneIsAFailureAndNotAnotherDirectory) {
    std::filesystem::create_directory(scratch() / "gone");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(scratch() / "gone");
    std::filesystem::remove(scratch() / "gone");
    const BinaryExecResult result = exec(command("pwd"));
    std::filesystem::current_path(before);
    EXPECT_EQ(result.cause, Cause::not_started) << "it ran in " << result.out;
}

}  // namespace
}  // namespace sandpipe::testing
