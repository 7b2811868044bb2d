#include <sandpipe/srt_enforcer.hpp>

#include <utility>

#include "commands.hpp"
#include "policy_options.hpp"
#include "process_options.hpp"
#include "stream_command.hpp"

namespace sandpipe::cli {
namespace {

SrtEnforcerOptions enforcer_options(const RunOptions& options, std::vector<std::string>& warnings) {
    SrtEnforcerOptions enforcer;
    enforcer.policy = make_policy(options.policy, &warnings);
    if (options.bin_shell) enforcer.bin_shell = *options.bin_shell;
    enforcer.enable_weaker_nested_sandbox = options.weaker_nested;
    if (options.policy.workspace) enforcer.workspace = *options.policy.workspace;
    return enforcer;
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
    std::vector<std::string> warnings;
    SrtEnforcerOptions enforcer = enforcer_options(options, warnings);
    const std::shared_ptr<SandboxEnforcer> sandbox =
        co_await srt_enforcer(host.runtime(), std::move(enforcer));
    BinaryInvocation made = invocation(*sandbox, options);
    CommandStream stream = co_await sandbox->run(std::move(made));
    warnings.insert(warnings.end(), sandbox->warnings().begin(), sandbox->warnings().end());
    Presentation presentation{options.process.json, options.process.quiet, &sandbox->enforcement(),
                              std::move(warnings)};
    co_return co_await stream_command(host, std::move(stream), std::move(presentation));
}

}  // namespace sandpipe::cli
