#include "summary.hpp"

#include <chrono>

#include "narrator.hpp"
#include "overloaded.hpp"
#include "shell_input.hpp"

namespace sandpipe::tool {
namespace {

using nlohmann::json;

// A flood is in the artifact and in the count; a summary is read as a whole.
constexpr std::size_t kMostDenials = 50;

json text_or_null(std::string_view text) { return text.empty() ? json(nullptr) : json(valid_utf8(text)); }

json to_json(const Denial& denial) {
    return {
        {"kind", to_string(denial.kind)},
        {"operation", denial.operation},
        {"path", text_or_null(denial.path)},
        {"resolved", text_or_null(denial.resolved)},
        {"second_path", text_or_null(denial.second_path)},
        {"second_resolved", text_or_null(denial.second_resolved)},
        {"host", text_or_null(denial.host)},
        {"port", denial.port == 0 ? json(nullptr) : json(denial.port)},
        {"errno", text_or_null(errno_name(denial.error))},
        {"rule", text_or_null(denial.rule)},
        {"reason", denial.reason ? text_or_null(*denial.reason) : json(nullptr)},
        {"program", text_or_null(denial.program)},
        {"folded", denial.folded},
    };
}

json denials(const CommandResult& result) {
    json list = json::array();
    for (const Denial& denial : result.denials)
        if (!denial.probe && list.size() < kMostDenials) list.push_back(to_json(denial));
    return list;
}

json to_json(const ArtifactFacts& facts) {
    return {{"bytes", facts.bytes},
            {"kept", facts.kept},
            {"lines", facts.lines},
            {"truncated", facts.truncated},
            {"problem", text_or_null(facts.problem)}};
}

/// Every field, as it is where no command was begun.
json without_command(const CallFacts& call) {
    const CommandResult none;
    return {
        {"tool", kToolName},
        {"call_id", text_or_null(call.call_id)},
        {"command_id", call.command_id},
        {"gate", nullptr},
        {"status", "not_started"},
        {"exit_code", none.exit_code},
        {"signal", nullptr},
        {"cause", to_string(none.cause)},
        {"failed", true},
        {"error", nullptr},
        {"reason", nullptr},
        {"stage", nullptr},
        {"duration_ms", 0},
        {"output_bytes", 0},
        {"text_bytes_left_out", 0},
        {"text_lines_left_out", 0},
        {"artifact", nullptr},
        {"denials", json::array()},
        {"denial_count", 0},
        {"denials_complete", true},
        {"limit_hit", nullptr},
        {"marker", ""},
    };
}

void put_status(json& fields, const EndStatus& status) {
    const Overloaded cases{
        [&](const Exited&) { fields["status"] = "exited"; },
        [&](const Signaled& ending) {
            fields["status"] = "signaled";
            fields["signal"] = signal_name(ending.signal);
        },
        [&](const NotStarted& start) { fields["stage"] = to_string(start.stage); },
    };
    std::visit(cases, status);
}

}  // namespace

json command_summary(const CallFacts& call, const CommandResult& result, const LeftOut& left_out,
                     const ArtifactFacts& artifact) {
    json fields = without_command(call);
    put_status(fields, result.status);
    fields["gate"] = "approved";
    fields["exit_code"] = result.exit_code;
    fields["cause"] = to_string(result.cause);
    fields["failed"] = result.failed;
    fields["duration_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(result.wall).count();
    fields["output_bytes"] = result.out_facts.bytes + result.err_facts.bytes;
    fields["text_bytes_left_out"] = left_out.bytes;
    fields["text_lines_left_out"] = left_out.lines;
    fields["artifact"] = to_json(artifact);
    fields["denials"] = denials(result);
    fields["denial_count"] = count_denials(result);
    fields["denials_complete"] = result.denials_complete;
    if (result.limit_hit) fields["limit_hit"] = valid_utf8(*result.limit_hit);
    fields["marker"] = result.marker;
    return fields;
}

json refusal_summary(const CallFacts& call, std::string_view code, const std::string& reason,
                     std::string_view gate) {
    json fields = without_command(call);
    fields["error"] = code;
    fields["reason"] = valid_utf8(reason);
    fields["gate"] = text_or_null(gate);
    return fields;
}

}  // namespace sandpipe::tool
