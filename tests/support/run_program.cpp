#include "support/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace sandpipe::testing {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) < 0) throw std::runtime_error(std::strerror(errno));
        read_end.reset(ends[0]);
        write_end.reset(ends[1]);
    }
    unique_fd read_end;
    unique_fd write_end;
};

int spawn(const std::vector<std::string>& argv, int in, int out, int err) {
    std::vector<char*> pointers;
    for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, err, 2);
    int pid = -1;
    const int error = ::posix_spawn(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error(argv[0] + ": " + std::strerror(error));
    return pid;
}

// Takes what is there, without waiting; closes at the end.
void take(unique_fd& fd, std::string& text) {
    std::array<char, 65536> buffer;
    while (fd) {
        const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return fd.reset();
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

int status_of(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& argv) {
    Pipe in;
    Pipe out;
    Pipe err;
    pid_ = spawn(argv, in.read_end.get(), out.write_end.get(), err.write_end.get());
    in_ = std::move(in.write_end);
    out_ = std::move(out.read_end);
    err_ = std::move(err.read_end);
}

RunningProgram::~RunningProgram() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

std::string RunningProgram::read_line() {
    std::string line;
    for (char byte = 0; ::read(out_.get(), &byte, 1) == 1 && byte != '\n';) line += byte;
    return line;
}

void RunningProgram::write_input(const std::string& text) {
    if (!text.empty() && ::write(in_.get(), text.data(), text.size()) < 0)
        throw std::runtime_error(std::string("the program's stdin: ") + std::strerror(errno));
}

void RunningProgram::close_input() { in_.reset(); }

void RunningProgram::signal(int number) { ::kill(pid_, number); }

ProgramResult RunningProgram::wait(std::chrono::milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    ProgramResult result;
    int status = 0;
    close_input();
    for (const unique_fd* fd : {&out_, &err_}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    while (Clock::now() < deadline) {
        std::array<pollfd, 2> waits{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
        ::poll(waits.data(), waits.size(), 5);
        const bool ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
        // After the look: what it wrote itself is there by now, and others who hold the pipes are not waited
        // for.
        take(out_, result.out);
        take(err_, result.err);
        if (!ended) continue;
        pid_ = -1;
        result.status = status_of(status);
        break;
    }
    return result;
}

std::vector<std::string> as_user(unsigned uid, std::vector<std::string> argv) {
    const std::string id = std::to_string(uid);
    argv.insert(argv.begin(), {"/usr/bin/setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups", "--"});
    return argv;
}

ProgramResult run_program(const std::vector<std::string>& argv, const std::string& input,
                          std::chrono::milliseconds limit) {
    RunningProgram running(argv);
    running.write_input(input);
    return running.wait(limit);
}

}  // namespace sandpipe::testing
