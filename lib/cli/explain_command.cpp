#include <sandpipe/explain.hpp>

#include <unistd.h>

#include <array>
#include <string>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "json_lines.hpp"
#include "output.hpp"
#include "policy_options.hpp"
#include "core/escaped.hpp"

namespace sandpipe::cli {
namespace {

ExplainedAct act_of(const std::string& name) {
    constexpr std::array kActs{ExplainedAct::read, ExplainedAct::write, ExplainedAct::exec,
                               ExplainedAct::connect};
    for (const ExplainedAct act : kActs)
        if (to_string(act) == name) return act;
    return ExplainedAct::connect;
}

std::string text_line(const ExplainOptions& options, const std::string& target, const Explanation& answer) {
    std::string line = answer.allowed ? "allowed: " : "denied: ";
    line += options.act + " " + detail::escaped(target);
    if (answer.place != target) line += " -> " + detail::escaped(answer.place);
    return line + " (" + detail::escaped(answer.rule) + ")\n";
}

}  // namespace

Ending explain_command(const ExplainOptions& options) {
    std::vector<std::string> warnings;
    const Explainer explainer(make_policy(options.policy, &warnings), options.policy.workspace.value_or(""));
    std::string noted;
    for (const std::string& warning : warnings) noted += "sandpipe: warning: " + warning + "\n";
    if (const std::error_code error = write_fully(STDERR_FILENO, noted, nullptr))
        return broken_output(error, 0);
    const ExplainedAct act = act_of(options.act);
    std::string text;
    bool all_allowed = true;
    for (const std::string& target : options.targets) {
        const Explanation answer = explainer.explain(act, target);
        text += options.json ? explanation_line(options.act, target, answer) : text_line(options, target, answer);
        all_allowed = all_allowed && answer.allowed;
    }
    const std::error_code error = write_fully(STDOUT_FILENO, text, nullptr);
    return error ? broken_output(error, 0) : Ending{all_allowed ? 0 : 1};
}

}  // namespace sandpipe::cli
