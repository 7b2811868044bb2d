#include "support/spawning_executor.hpp"

#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include "sys/descriptors.hpp"

namespace sandpipe::testing {
namespace {

int spawn(const InvocationFields& fields, int out, int err) {
    std::vector<char*> argv{const_cast<char*>(fields.program.c_str())};
    for (const std::string& arg : fields.args) argv.push_back(const_cast<char*>(arg.c_str()));
    argv.push_back(nullptr);
    char odd[] = "ODD=of the relay";
    char* env[] = {odd, nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, err, 2);
    ::posix_spawn_file_actions_addchdir_np(&actions, "/");
    int pid = -1;
    const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), env);
    ::posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? pid : -error;
}

awaitable<std::string> read_all(unique_fd pipe) {
    asio::posix::stream_descriptor stream(co_await asio::this_coro::executor, pipe.release());
    std::string text;
    std::error_code end;
    co_await asio::async_read(stream, asio::dynamic_buffer(text), asio::redirect_error(asio::use_awaitable, end));
    co_return text;
}

void fill_in(BinaryExecResult& result, int wait_status) {
    result.cause = Cause::finished;
    if (WIFSIGNALED(wait_status)) {
        result.status = Signaled{WTERMSIG(wait_status), WCOREDUMP(wait_status) != 0};
        return;
    }
    result.exit_code = WEXITSTATUS(wait_status);
    result.status = Exited{result.exit_code};
    result.failed = result.exit_code != 0;
}

}  // namespace

awaitable<BinaryExecResult> SpawningExecutor::exec(BinaryInvocation invocation) {
    sys::Pipe out, err;
    if (sys::make_pipe(out) < 0 || sys::make_pipe(err) < 0) throw std::runtime_error("pipe");
    BinaryExecResult result;
    const int pid = spawn(invocation.fields(), out.write_end.get(), err.write_end.get());
    if (pid < 0) {
        result.status = NotStarted{Stage::program, std::error_code(-pid, std::generic_category()), {}, {}};
        co_return result;
    }
    out.write_end.reset();
    err.write_end.reset();
    result.out = co_await read_all(std::move(out.read_end));
    result.err = co_await read_all(std::move(err.read_end));
    asio::posix::stream_descriptor ended(co_await asio::this_coro::executor,
                                         static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    co_await ended.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
    int status = 0;
    ::waitpid(pid, &status, 0);
    fill_in(result, status);
    co_return result;
}

}  // namespace sandpipe::testing
