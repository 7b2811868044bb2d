#include "support/as_user.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "support/host_snapshot.hpp"

namespace fs = std::filesystem;

namespace sandpipe::testing {
namespace {

constexpr unsigned kOrdinaryUser = 65534;
constexpr const char* kAreaVariable = "SANDPIPE_TEST_AREA";

std::string& area() {
    static std::string path;
    return path;
}

std::string make_area() {
    std::string path = "/var/tmp/sandpipe-test-XXXXXX";
    if (!::mkdtemp(path.data())) throw std::runtime_error("cannot make " + path);
    fs::permissions(path, fs::perms(0755));
    for (const char* name : {"bin", "root", "user"}) fs::create_directory(path + "/" + name);
    return path;
}

/// Where this process ends without removing `top`, as by an abort, an orphan does: it waits for the end of a pipe that
/// nobody but this process writes.
void remove_after_us(const std::string& top) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) throw std::runtime_error("no pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        if (::fork() != 0) ::_exit(0);
        ::setsid();
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, ends[1]}) ::close(fd);
        char byte = 0;
        while (::read(ends[0], &byte, 1) < 0 && errno == EINTR) continue;
        remove_tree(top);
        ::_exit(0);
    }
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
}

void copy_programs(const std::string& bin) {
    fs::copy_file("/proc/self/exe", bin + "/test");
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
    for (const auto& entry : fs::directory_iterator(beside / "programs"))
        fs::copy_file(entry.path(), bin / entry.path().filename());
    fs::copy_file(SANDPIPE_COMMAND, bin + "/sandpipe");
}

void set_area(const std::string& path) {
    area() = path;
    ::setenv(kAreaVariable, path.c_str(), 1);
}

[[noreturn]] void become_user(const std::string& top, const std::vector<char*>& args) {
    set_area(top + "/user");
    const bool became = ::chown(area().c_str(), kOrdinaryUser, kOrdinaryUser) == 0 &&
                        ::setgroups(0, nullptr) == 0 &&
                        ::setresgid(kOrdinaryUser, kOrdinaryUser, kOrdinaryUser) == 0 &&
                        ::setresuid(kOrdinaryUser, kOrdinaryUser, kOrdinaryUser) == 0 && ::chdir("/") == 0;
    ::setenv("HOME", area().c_str(), 1);
    if (became) ::execv((top + "/bin/test").c_str(), args.data());
    std::perror("cannot become the ordinary user");
    ::_exit(1);
}

/// True if all tests passed as the ordinary user.
bool passes_as_user(const std::string& top, const std::vector<char*>& args) {
    std::printf("== as uid %u ==\n", kOrdinaryUser);
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) become_user(top, args);
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

}  // namespace

const std::string& test_area() { return area(); }

std::string test_program(const std::string& name) {
    return fs::path(area()).parent_path().string() + "/bin/" + name;
}

int run_tests_as_both(int argc, char** argv) {
    std::vector<char*> args(argv, argv + argc);
    args.push_back(nullptr);
    ::testing::InitGoogleTest(&argc, argv);
    ::umask(022);
    if (::testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    if (const char* given = std::getenv(kAreaVariable)) {
        area() = given;
        return RUN_ALL_TESTS();
    }
    const std::string top = make_area();
    remove_after_us(top);
    copy_programs(top + "/bin");
    const bool root = ::geteuid() == 0;
    bool passed = !root || passes_as_user(top, args);
    std::printf("== as uid %u ==\n", ::geteuid());
    set_area(top + (root ? "/root" : "/user"));
    passed = RUN_ALL_TESTS() == 0 && passed;
    remove_tree(top);
    return passed ? 0 : 1;
}

}  // namespace sandpipe::testing

int main(int argc, char** argv) { return sandpipe::testing::run_tests_as_both(argc, argv); }
