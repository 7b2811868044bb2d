#include "process_options.hpp"

#include <unistd.h>

#include <cstdlib>

namespace sandpipe::cli {
namespace {

StopPolicy stop_policy(std::chrono::nanoseconds kill_after) {
    StopPolicy policy;
    policy.grace = kill_after;
    policy.kill_at_once = kill_after == std::chrono::nanoseconds::zero();
    return policy;
}

}  // namespace

void apply(const ProcessOptions& options, BinaryInvocation& invocation) {
    invocation.timeout(options.timeout.value_or(kNoTimeout));
    if (options.kill_after) invocation.stop(stop_policy(*options.kill_after));
    if (options.max_output) invocation.limit(OutputLimit{*options.max_output, OnOverflow::stop});
    if (options.merged) invocation.order(Order::merged);
    if (options.input == "-") {
        invocation.input(Input::descriptor(STDIN_FILENO));
    } else if (options.input) {
        invocation.input(Input::file(*options.input));
    }
}

Environment environment(Environment base, const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
        const std::size_t equals = entry.find('=');
        const std::string name = entry.substr(0, equals);
        if (equals != std::string::npos) {
            base.set(name, entry.substr(equals + 1));
        } else if (const char* value = std::getenv(name.c_str())) {
            base.set(name, value);
        }
    }
    return base;
}

}  // namespace sandpipe::cli
