#include "transcript.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include "narrator.hpp"

namespace sandpipe::tool {
namespace {

using nlohmann::json;

// A flood is in the artifact and in the count; a summary is read as a whole.
constexpr std::size_t kMostDenials = 50;

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(valid_utf8(text)); }

json to_json(const Denial& denial) {
    json fields{{"kind", to_string(denial.kind)},
                {"operation", denial.operation},
                {"path", text_or_null(denial.path)},
                {"rule", text_or_null(denial.rule)}};
    if (!denial.second_path.empty()) fields["second_path"] = valid_utf8(denial.second_path);
    if (!denial.host.empty()) {
        fields["host"] = valid_utf8(denial.host);
        fields["port"] = denial.port;
    }
    return fields;
}

std::ptrdiff_t count_denials(const CommandResult& result) {
    return std::count_if(result.denials.begin(), result.denials.end(),
                         [](const Denial& d) { return !d.probe; });
}

json denials(const CommandResult& result) {
    json list = json::array();
    for (const Denial& denial : result.denials) {
        if (!denial.probe && list.size() < kMostDenials) list.push_back(to_json(denial));
    }
    return list;
}

std::string status_name(const EndStatus& status) {
    if (std::holds_alternative<Exited>(status)) return "exited";
    return std::holds_alternative<Signaled>(status) ? "signaled" : "not_started";
}

json summary(const CommandResult& result, std::uint64_t left_out) {
    const auto* signaled = std::get_if<Signaled>(&result.status);
    return {
        {"status", status_name(result.status)},
        {"exit_code", result.exit_code},
        {"signal", signaled ? json(signal_name(signaled->signal)) : json(nullptr)},
        {"cause", to_string(result.cause)},
        {"failed", result.failed},
        {"duration_ms", std::chrono::duration_cast<std::chrono::milliseconds>(result.wall).count()},
        {"output_bytes", result.out_facts.bytes + result.err_facts.bytes},
        {"text_bytes_left_out", left_out},
        {"denials", denials(result)},
        {"denial_count", count_denials(result)},
        {"denials_complete", result.denials_complete},
        {"limit_hit", result.limit_hit ? json(*result.limit_hit) : json(nullptr)},
        {"marker", result.marker},
    };
}

std::string with_final_newline(std::string text) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text;
}

CommandResult lost() {
    CommandResult result;
    result.cause = Cause::lost;
    return result;
}

}  // namespace

Transcript::Transcript(std::string marker, std::size_t text_limit)
    : renderer_(std::move(marker)), text_(text_limit), end_(lost()) {}

void Transcript::take(const OutputEvent& event) {
    text_.append(renderer_.render(event));
    if (const auto* finished = std::get_if<Finished>(&event)) end_ = finished->result;
}

ToolResult Transcript::result() const {
    ToolResult result;
    result.is_error = end_.failed;
    result.text = with_final_newline(text_.text()) + valid_utf8(narrate(end_));
    result.summary = summary(end_, text_.left_out());
    return result;
}

ToolResult nothing_ran(std::string_view code, const std::string& reason) {
    const std::string text = valid_utf8(reason);
    return {true, text, {{"status", "not_started"}, {"error", code}, {"reason", text}}};
}

}  // namespace sandpipe::tool
