#include "sandbox/explain_program.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "process/start_request.hpp"
#include "sandbox/explain_place.hpp"

namespace sandpipe {
namespace {

constexpr int kMaxInterpreters = 5;  // of scripts of scripts; with more the kernel says ELOOP

std::string in_workspace(const CompiledPolicy& compiled, const std::string& path) {
    return path.starts_with('/') ? path : join_path(compiled.plan.workspace, path);
}

std::vector<std::string> places_in_path(const std::string& name, const char* path) {
    std::vector<std::string> environment;
    if (path) environment.push_back("PATH=" + std::string(path));
    return detail::candidates(name, environment, {});
}

}  // namespace

Explanation explain_program(const CompiledPolicy& compiled, const std::string& absolute, const SessionView& view) {
    Explanation answer = explain_place(compiled, ExplainedAct::exec, absolute, view);
    std::string here = answer.place;
    for (int i = 0; i < kMaxInterpreters && answer.allowed && view.look(here).kind == PathKind::file; ++i) {
        const sys::ProgramFacts program = view.program(here);
        if (program.interpreter.empty()) break;
        const std::string interpreter = in_workspace(compiled, program.interpreter);
        const Explanation next = explain_place(compiled, ExplainedAct::exec, interpreter, view);
        answer.allowed = next.allowed;
        if (!next.allowed) answer.rule = next.rule + " (interpreter of " + here + ": " + next.place + ")";
        here = next.place;
    }
    return answer;
}

Explanation explain_bare_name(const CompiledPolicy& compiled, const std::string& name, const char* path,
                              const SessionView& view) {
    std::optional<Explanation> refused;
    for (const std::string& candidate : places_in_path(name, path)) {
        Explanation answer = explain_program(compiled, in_workspace(compiled, candidate), view);
        if (!view.may_be_executed(answer.place)) continue;
        if (answer.allowed) return answer;
        if (!refused) refused = std::move(answer);
    }
    if (refused) return *std::move(refused);
    return {false, "no such program in PATH", name};
}

}  // namespace sandpipe
