#include <sandpipe/error.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "support/start_failures.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::HasSubstr;

class StartFailure : public StartFailureFixture {};

TEST_F(StartFailure, MissingProgram) {
    expect_failure(refused(command("/no/such/program")), Stage::program, ENOENT, "/no/such/program", "");
    expect_failure(refused(command("no/such/program")), Stage::program, ENOENT, "no/such/program", "cwd");
    expect_failure(refused(command("no-such-program-anywhere")), Stage::program, ENOENT,
                   "no-such-program-anywhere", "PATH");
    write_file(place("file"), "");
    expect_failure(refused(command(place("file/below"))), Stage::program, ENOTDIR, place("file/below"), "");
}

TEST_F(StartFailure, MissingInterpreter) {
    write_file(place("script"), "#!/no/such/interpreter\n", 0755);
    expect_failure(refused(command(place("script"))), Stage::interpreter, ENOENT, place("script"),
                   "interpreter");
}

TEST_F(StartFailure, InterpretersWithoutEnd) {
    write_file(place("script"), "#!" + place("script") + "\n", 0755);
    expect_failure(refused(command(place("script"))), Stage::interpreter, ELOOP, place("script"), "script too");
}

TEST_F(StartFailure, InterpreterThatMayNotBeExecuted) {
    write_file(place("plain"), "", 0644);
    write_file(place("script"), "#!" + place("plain") + "\n", 0755);
    expect_failure(refused(command(place("script"))), Stage::permission, EACCES, place("script"), "interpreter");
}

TEST_F(StartFailure, InterpreterLineWithACarriageReturn) {
    write_file(place("script"), "#!/bin/sh\r\necho never\r\n", 0755);
    expect_failure(refused(command(place("script"))), Stage::interpreter, ENOENT, place("script"), "interpreter");
}

TEST_F(StartFailure, NamesThatAreTooLong) {
    const std::string name(300, 'x');
    expect_failure(refused(command(name)), Stage::program, ENOENT, name, "300 bytes");
    expect_failure(refused(command(place(name))), Stage::program, ENAMETOOLONG, place(name), "");
}

TEST_F(StartFailure, AProgramThatStaysOpenForWriting) {
    std::filesystem::copy_file("/bin/true", place("busy"));
    const unique_fd writer(::open(place("busy").c_str(), O_WRONLY | O_CLOEXEC));
    expect_failure(refused(command(place("busy"))), Stage::program, ETXTBSY, place("busy"), "open for writing");
}

TEST_F(StartFailure, ScriptWithoutInterpreterLine) {
    write_file(place("script"), "echo never\n", 0755);
    expect_failure(refused(command(place("script"))), Stage::program, ENOEXEC, place("script"), "sh");
}

TEST_F(StartFailure, ProgramThatMayNotBeExecuted) {
    write_file(place("plain"), "#!/bin/sh\n", 0644);
    expect_failure(refused(command(place("plain"))), Stage::permission, EACCES, place("plain"), "chmod");
}

TEST_F(StartFailure, DirectoryInPlaceOfAProgram) {
    expect_failure(refused(command(scratch().string())), Stage::program, EACCES, scratch().string(),
                   "directory");
}

TEST_F(StartFailure, WorkingDirectory) {
    expect_failure(refused(command("true").cwd("/no/such/directory")), Stage::cwd, ENOENT,
                   "/no/such/directory", "directory");
    write_file(place("file"), "");
    expect_failure(refused(command("true").cwd(place("file"))), Stage::cwd, ENOTDIR, place("file"),
                   "directory");
}

TEST_F(StartFailure, ArgumentsThatAreTooLongComeWithTheirSizes) {
    const NotStarted argument = refused(command("true").args("a", std::string(131072, 'x'), "b"));
    expect_failure(argument, Stage::arguments, E2BIG, argument.path, "longest argv[2] with 131072 bytes");
    const NotStarted value =
        refused(command("true").env(Environment::standard().set("BIG", std::string(131072, 'y'))));
    expect_failure(value, Stage::arguments, E2BIG, value.path, "with 131076 bytes");
    std::vector<std::string> many(8000, std::string(1000, 'z'));
    const NotStarted all = refused(command("true").arg_list(many));
    expect_failure(all, Stage::arguments, E2BIG, all.path, "argv 8008");
}

TEST_F(StartFailure, LongArgumentsThatFitAreTaken) {
    std::vector<std::string> many(1500, std::string(1000, 'z'));
    EXPECT_EQ(exec(sh("echo $#").arg_list(many)).out, "1499");
    EXPECT_EQ(exec(sh("printf %s \"$1\" | wc -c").args("sh", std::string(131071, 'x'))).out, "131071");
}

TEST_F(StartFailure, InputAndOutputFiles) {
    expect_failure(refused(command("true").input(Input::file("/no/such/input"))), Stage::input, ENOENT,
                   "/no/such/input", "");
    expect_failure(refused(command("true").out(Output::file("/no/such/dir/out", FileMode::truncate))),
                   Stage::output, ENOENT, "/no/such/dir/out", "");
    ASSERT_EQ(::mkfifo(place("fifo").c_str(), 0600), 0);
    expect_failure(refused(command("true").err(Output::file(place("fifo"), FileMode::append))), Stage::output,
                   ENXIO, place("fifo"), "other end");
    expect_failure(refused(command("cat").input(Input::file(place("fifo")))), Stage::input, ENXIO, place("fifo"),
                   "other end");
    expect_failure(refused(command("true").out(Output::file(scratch().string(), FileMode::append))), Stage::output,
                   EISDIR, scratch().string(), "");
}

TEST_F(StartFailure, NothingIsLeftOfManyFailures) {
    (void)refused(command("/no/such/program"));
    const HostState before = HostState::now();
    for (int i = 0; i < rounds(300); ++i) (void)refused(command(i % 2 ? "/no/such" : "no-such-name"));
    EXPECT_EQ(HostState::now().difference_to(before), "");
    for (const pid_t launcher : launchers_of(::getpid()))
        EXPECT_THAT(zombies_of(launcher), ::testing::IsEmpty());
}

class WrongInvocation : public StartFailureFixture {
  protected:
    void expect_thrown(BinaryInvocation invocation, const std::string& named) {
        try {
            (void)exec(std::move(invocation));
            ADD_FAILURE() << "nothing was thrown for " << named;
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
            EXPECT_THAT(error.text(), HasSubstr(named));
        }
        EXPECT_FALSE(std::filesystem::exists(place("marker"))) << named;
    }
    /// Leaves a mark when it runs.
    BinaryInvocation marking() const { return sh("touch " + place("marker")); }
};

const std::string kNul("x\0y", 3);

TEST_F(WrongInvocation, IsRefusedBeforeAnythingStarts) {
    expect_thrown(command(""), "empty");
    expect_thrown(command(kNul), "program");
    expect_thrown(marking().args("sh", kNul), "args[3]");
    expect_thrown(marking().cwd(kNul), "cwd");
    expect_thrown(marking().env(Environment::empty().set("A=B", "c")), "A=B");
    expect_thrown(marking().env(Environment::empty().set("", "c")), "name");
    expect_thrown(marking().env(Environment::empty().set(kNul, "c")), "name");
    expect_thrown(marking().env(Environment::empty().set("NAME", kNul)), "NAME");
    expect_thrown(marking().env(Environment::empty().unset("A=B")), "A=B");
    expect_thrown(marking().env(Environment::names({"A=B"})), "A=B");
    expect_thrown(marking().timeout(0s), "timeout");
    expect_thrown(marking().timeout(-1s), "timeout");
    expect_thrown(marking().start_timeout(0s), "start_timeout");
    StopPolicy stop;
    stop.signal = 0;
    expect_thrown(marking().stop(stop), "stop.signal");
    stop = {};
    stop.grace = -1s;
    expect_thrown(marking().stop(stop), "stop.grace");
    stop = {};
    stop.abandon_after = 0s;
    expect_thrown(marking().stop(stop), "stop.abandon_after");
    EXPECT_TRUE(launchers_of(::getpid()).empty()) << "not even the helper was started";
}

TEST_F(WrongInvocation, NulInTheNameOfAFileIsRefused) {
    write_file(place("x"), "wrong file");
    const std::string cut = place("x") + kNul.substr(1);
    expect_thrown(marking().input(Input::file(cut)), "NUL");
    expect_thrown(marking().out(Output::file(cut, FileMode::truncate)), "NUL");
    expect_thrown(marking().err(Output::file(cut, FileMode::append)), "NUL");
    EXPECT_EQ(read_file(place("x")), "wrong file");
}

TEST_F(WrongInvocation, StreamsRefuseTheSame) {
    EXPECT_THROW((void)start(command("")), Error);
    EXPECT_THROW((void)start(marking().timeout(0s)), Error);
    EXPECT_THROW((void)start(marking().limit(OutputLimit{10, OnOverflow::keep_head_and_tail})), Error);
}

TEST_F(WrongInvocation, DescriptorsThatAreNotOpenThrowAtOnce) {
    EXPECT_THROW((void)Input::descriptor(-1), Error);
    EXPECT_THROW((void)Output::descriptor(1'000'000), Error);
}

TEST_F(WrongInvocation, RuntimeOptionsOutOfRange) {
    RuntimeOptions none;
    none.launchers = 0;
    EXPECT_THROW(Runtime(io().get_executor(), none), Error);
    RuntimeOptions many;
    many.launchers = 65;
    EXPECT_THROW(Runtime(io().get_executor(), many), Error);
    EXPECT_THROW(Runtime(asio::any_io_executor{}), Error);
}

}  // namespace
}  // namespace sandpipe::testing
