// relayed_host WORKSPACE PROGRAM [ARG...]: a host that wraps one command, prints the wrapped argv as a line of the
// shell, and holds its session until it is killed.
#include <sandpipe/shell.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

using namespace sandpipe;

static awaitable<void> wrap(Runtime& runtime, std::string workspace, std::vector<std::string> argv,
                            std::shared_ptr<SandboxEnforcer>& enforcer) {
    SrtEnforcerOptions options;
    options.workspace = std::move(workspace);
    enforcer = co_await srt_enforcer(runtime, std::move(options));
    BinaryInvocation invocation = command(argv.front()).arg_list({argv.begin() + 1, argv.end()});
    const BinaryInvocation wrapped = co_await enforcer->wrap(std::move(invocation));
    std::vector<std::string> words{wrapped.fields().program};
    words.insert(words.end(), wrapped.fields().args.begin(), wrapped.fields().args.end());
    std::puts(posix_quote(words).c_str());
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    asio::io_context context;
    const auto work = asio::make_work_guard(context);
    Runtime runtime(context.get_executor());
    std::shared_ptr<SandboxEnforcer> enforcer;
    asio::co_spawn(context, wrap(runtime, argv[1], {argv + 2, argv + argc}, enforcer), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    context.run();
}
