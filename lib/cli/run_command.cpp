#include <sandpipe/srt_enforcer.hpp>

#include <asio/this_coro.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "policy_options.hpp"
#include "process/aside.hpp"
#include "process_options.hpp"
#include "stream_command.hpp"

namespace sandpipe::cli {
namespace {

struct Settings {
    SrtEnforcerOptions enforcer;
    std::vector<std::string> warnings;
};

Settings read_settings(const RunOptions& options) {
    Settings settings;
    SrtEnforcerOptions& enforcer = settings.enforcer;
    enforcer.policy = make_policy(options.policy, &settings.warnings);
    if (options.bin_shell) enforcer.bin_shell = *options.bin_shell;
    enforcer.enable_weaker_nested_sandbox = options.weaker_nested;
    if (options.policy.workspace) enforcer.workspace = *options.policy.workspace;
    return settings;
}

BinaryInvocation program(const std::vector<std::string>& argv) {
    return command(argv.front()).arg_list({argv.begin() + 1, argv.end()});
}

BinaryInvocation invocation(const SandboxEnforcer& enforcer, const RunOptions& options) {
    BinaryInvocation made =
        options.shell_command ? enforcer.shell(*options.shell_command) : program(options.argv);
    apply(options.process, made);
    // Laid over the session's own variables.
    if (!options.process.env.empty()) made.env(environment(Environment::empty(), options.process.env));
    return made;
}

}  // namespace

awaitable<Ending> run_command(Host& host, RunOptions options) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    // Aside: a settings file may be a pipe that nobody writes, and we are to be interrupted all the same.
    std::function<Settings()> read = [options] { return read_settings(options); };
    Settings settings = co_await detail::call_aside(executor, std::move(read), kNoTimeout, {});
    std::vector<std::string>& warnings = settings.warnings;
    const std::shared_ptr<SandboxEnforcer> sandbox =
        co_await srt_enforcer(host.runtime(), std::move(settings.enforcer));
    BinaryInvocation made = invocation(*sandbox, options);
    CommandStream stream = co_await sandbox->run(std::move(made));
    warnings.insert(warnings.end(), sandbox->warnings().begin(), sandbox->warnings().end());
    Presentation presentation{options.process.json, options.process.quiet, &sandbox->enforcement(),
                              std::move(warnings)};
    co_return co_await stream_command(host, std::move(stream), std::move(presentation));
}

}  // namespace sandpipe::cli
