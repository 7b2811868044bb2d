#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cerrno>

#include "support/run_program.hpp"
#include "support/start_failures.hpp"

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Where a bare name is looked for.
class Path : public StartFailureFixture {
  protected:
    void make(const std::string& directory, const std::string& name, const std::string& says,
              unsigned mode = 0755) {
        fs::create_directories(place(directory));
        write_file(place(directory + "/" + name), "#!/bin/sh\necho " + says + "\n", mode);
    }
    static BinaryInvocation with_path(const std::string& name, const std::string& path) {
        return command(name).env(Environment::empty().set("PATH", path));
    }
};

TEST_F(Path, TheFirstDirectoryWins) {
    make("a", "tool", "from a");
    make("b", "tool", "from b");
    EXPECT_EQ(exec(with_path("tool", place("a") + ":" + place("b"))).out, "from a");
    EXPECT_EQ(exec(with_path("tool", place("b") + ":" + place("a"))).out, "from b");
    EXPECT_EQ(exec(with_path("tool", "/no/such:" + place("b"))).out, "from b");
}

TEST_F(Path, AFileThatMayNotBeExecutedIsPassedOverAndRemembered) {
    make("a", "tool", "never", 0644);
    make("b", "tool", "from b");
    EXPECT_EQ(exec(with_path("tool", place("a") + ":" + place("b"))).out, "from b");
    for (const std::string& path : {place("a"), place("a") + ":/no/such", "/no/such:" + place("a")})
        expect_failure(refused(with_path("tool", path)), Stage::permission, EACCES, place("a/tool"), "chmod");
}

TEST_F(Path, ADirectoryIsNoProgram) {
    make("b", "tool", "from b");
    fs::create_directories(place("c/tool"));
    EXPECT_EQ(exec(with_path("tool", place("c") + ":" + place("b"))).out, "from b");
    for (const std::string& path : {place("c"), place("c") + ":/no/such", "/no/such:" + place("c")})
        expect_failure(refused(with_path("tool", path)), Stage::program, ENOENT, "tool",
                       place("c/tool") + " is a directory");
}

TEST_F(Path, WhatCannotBeLookedAtIsPassedOverAndNamed) {
    make("b", "tool", "from b");
    fs::create_symlink("loop", place("loop"));
    const std::string long_name = "/" + std::string(300, 'x');
    write_file(place("file"), "");
    for (const std::string& bad : {place("loop"), long_name, place("file")})
        EXPECT_EQ(exec(with_path("tool", bad + ":" + place("b"))).out, "from b") << bad;
    expect_failure(refused(with_path("tool", place("loop"))), Stage::program, ENOENT, "tool",
                   place("loop") + " could not be searched: Too many levels of symbolic links");
    expect_failure(refused(with_path("tool", "/no/such:" + long_name)), Stage::program, ENOENT, "tool",
                   long_name + " could not be searched: File name too long");
}

TEST_F(Path, AFileIsPreferredToAnyOtherReason) {
    make("a", "tool", "never", 0644);
    fs::create_symlink("loop", place("loop"));
    expect_failure(refused(with_path("tool", place("loop") + ":" + place("a"))), Stage::permission, EACCES,
                   place("a/tool"), "chmod");
}

TEST_F(Path, AScriptWithoutItsInterpreterEndsTheSearch) {
    fs::create_directories(place("a"));
    write_file(place("a/tool"), "#!/no/such/interpreter\n", 0755);
    make("b", "tool", "from b");
    expect_failure(refused(with_path("tool", place("a") + ":" + place("b"))), Stage::interpreter, ENOENT,
                   place("a/tool"), "interpreter");
}

TEST_F(Path, TheCommandsOwnComesFirstAndThenTheRuntimes) {
    EXPECT_EQ(exec(command("echo").args("found").env(Environment::empty())).out, "found");
    expect_failure(refused(with_path("echo", place("empty"))), Stage::program, ENOENT, "echo", "PATH");
}

TEST_F(Path, RelativeProgramsStandInTheCommandsCwd) {
    make("d", "tool", "from d");
    EXPECT_EQ(exec(command("./tool").cwd(place("d"))).out, "from d");
    EXPECT_EQ(exec(command("d/tool").cwd(scratch().string())).out, "from d");
    EXPECT_EQ(exec(with_path("tool", "").cwd(place("d"))).out, "from d")
        << "an empty directory means the cwd";
}

/// The mode of a directory means nothing to root, so the command line tool goes there as an ordinary user.
class UnsearchablePath : public Path {
  protected:
    void SetUp() override {
        Path::SetUp();
        fs::permissions(scratch(), fs::perms(0755));
        fs::copy_file(SANDPIPE_CLI, scratch() / "sandpipe");
        make("locked", "tool", "never");
        make("open", "tool", "from open");
        make("plain", "tool", "never", 0644);
        fs::permissions(place("locked"), fs::perms(0));
    }
    void TearDown() override {
        fs::permissions(place("locked"), fs::perms(0755));
        Path::TearDown();
    }
    ProgramResult cli(const std::string& path, const std::string& name = "tool") {
        constexpr unsigned kNobody = 65534;
        std::vector<std::string> argv{place("sandpipe"), "exec", "--json", "--env", "PATH=" + path, "--", name};
        return run_program(::geteuid() == 0 ? as_user(kNobody, argv) : argv);
    }
};

TEST_F(UnsearchablePath, IsPassedOver) {
    EXPECT_EQ(Json::parse(cli(place("locked") + ":" + place("open")).out)["out"], "from open\n");
}

TEST_F(UnsearchablePath, OfAProgramThatIsMissingElsewhereIsNamed) {
    for (const std::string& path : {place("locked"), place("locked") + ":/no/such", "/no/such:" + place("locked")}) {
        const ProgramResult result = cli(path);
        EXPECT_EQ(result.status, 127) << path;
        const Json failure = Json::parse(result.out)["start_failure"];
        EXPECT_EQ(failure["stage"], "program");
        EXPECT_EQ(failure["errno"], "ENOENT");
        EXPECT_EQ(failure["path"], "tool");
        EXPECT_THAT(failure["hint"].get<std::string>(),
                    ::testing::HasSubstr(place("locked") + " could not be searched: Permission denied"));
    }
}

TEST_F(UnsearchablePath, DoesNotHideAFileThatMayNotBeExecuted) {
    const ProgramResult result = cli(place("locked") + ":" + place("plain"));
    EXPECT_EQ(result.status, 126);
    EXPECT_EQ(Json::parse(result.out)["start_failure"]["path"], place("plain/tool"));
}

TEST_F(UnsearchablePath, IsAPermissionErrorForAPathThatWasGiven) {
    const ProgramResult result = cli("/bin", place("locked/tool"));
    EXPECT_EQ(result.status, 126);
    EXPECT_EQ(Json::parse(result.out)["start_failure"]["errno"], "EACCES");
}

}  // namespace
}  // namespace sandpipe::testing
