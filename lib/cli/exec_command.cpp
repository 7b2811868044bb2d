#include <sandpipe/local_executor.hpp>

#include <unistd.h>

#include <utility>

#include "commands.hpp"
#include "json_lines.hpp"
#include "output.hpp"
#include "process/exit_status.hpp"
#include "process_options.hpp"
#include "stream_command.hpp"

namespace sandpipe::cli {
namespace {

BinaryInvocation invocation(const ExecOptions& options) {
    BinaryInvocation made = command(options.argv.front());
    made.arg_list({options.argv.begin() + 1, options.argv.end()});
    made.env(environment(Environment::standard(), options.process.env));
    apply(options.process, made);
    return made;
}

// The result as the library gives it, with every byte of the output.
awaitable<BinaryExecResult> settled(Runtime& runtime, BinaryInvocation made) {
    LocalExecutorOptions options;
    options.strip_final_newline = false;
    const std::shared_ptr<BinaryExecutor> executor = local_executor(runtime, options);
    co_return co_await executor->exec(std::move(made));
}

awaitable<Ending> exec_json(Host& host, BinaryInvocation made) {
    const BinaryExecResult result = co_await settled(host.runtime(), std::move(made));
    const int signal = host.interrupts().first();
    const std::error_code error = write_fully(STDOUT_FILENO, result_object(result), &host.interrupts());
    if (error) co_return broken_output(error, signal);
    co_return Ending{detail::exit_status(result, signal != 0 ? signal : SIGTERM)};
}

}  // namespace

awaitable<Ending> exec_command(Host& host, ExecOptions options) {
    BinaryInvocation made = invocation(options);
    if (options.process.json) co_return co_await exec_json(host, std::move(made));
    CommandStream stream = co_await start_command(host.runtime(), std::move(made));
    Presentation presentation;
    presentation.quiet = options.process.quiet;
    co_return co_await stream_command(host, std::move(stream), std::move(presentation));
}

}  // namespace sandpipe::cli
