#pragma once

#include <sandpipe/unique_fd.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace sandpipe::testing {

/// How a program ended that was started without the library.
struct ProgramResult {
    int status = -1;  ///< its exit code; 128 + n by a signal; -1: it was still running at the limit
    std::string out;
    std::string err;
};

/// Starts `argv` with the given stdin, takes its output and waits; kills it at the limit.
[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& argv, const std::string& input = {},
                                        std::chrono::milliseconds limit = std::chrono::seconds{30});

/// `argv` as another user and without any groups, by setpriv(1). For root only.
[[nodiscard]] std::vector<std::string> as_user(unsigned uid, std::vector<std::string> argv);

/// A program that runs beside the test. The destructor kills and reaps it.
class RunningProgram {
  public:
    explicit RunningProgram(const std::vector<std::string>& argv);
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;
    ~RunningProgram();

    [[nodiscard]] int pid() const noexcept { return pid_; }
    /// One line of its stdout, without the newline; "" at its end.
    [[nodiscard]] std::string read_line();
    /// At most what a pipe takes at once.
    void write_input(const std::string& text);
    /// End of file on its stdin.
    void close_input();
    void signal(int number);
    /// Waits for its end, which must come by itself.
    ProgramResult wait(std::chrono::milliseconds limit = std::chrono::seconds{30});

  private:
    int pid_ = -1;
    unique_fd in_;
    unique_fd out_;
    unique_fd err_;
};

}  // namespace sandpipe::testing
