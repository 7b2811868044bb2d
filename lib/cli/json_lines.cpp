#include "json_lines.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>

#include "base64.hpp"
#include "core/utf8.hpp"
#include "process/shortage.hpp"

namespace sandpipe::cli {
namespace {

// Keys stand in the order in which they are written here.
using Json = nlohmann::ordered_json;

std::string line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double in_milliseconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json text_or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

/// A path may be any bytes: where they are not UTF-8, a text that shows what it can, and the bytes beside it.
void put_path(Json& json, const std::string& key, const std::string& path) {
    json[key] = text_or_null(path);
    if (!detail::is_utf8(path)) json[key + "_base64"] = base64(path);
}

void put_bytes(Json& json, const std::string& key, const std::string& bytes) {
    if (detail::is_utf8(bytes)) {
        json[key] = bytes;
    } else {
        json[key + "_base64"] = base64(bytes);
    }
}

std::string_view event_name(StreamTag tag) {
    switch (tag) {
        case StreamTag::out:
            return "stdout";
        case StreamTag::err:
            return "stderr";
        case StreamTag::merged:
            return "output";
    }
    return "output";
}

Json to_json(const OutputChunk& chunk) {
    Json json;
    json["event"] = event_name(chunk.stream);
    json["seq"] = chunk.seq;
    json["time"] = in_seconds(chunk.time);
    put_bytes(json, "data", chunk.data);
    return json;
}

// What only some denials have.
void put_optional_facts(Json& json, const Denial& denial) {
    if (!denial.second_path.empty()) {
        put_path(json, "second_path", denial.second_path);
        put_path(json, "second_resolved", denial.second_resolved);
    }
    if (!denial.host.empty()) {
        json["host"] = denial.host;
        json["port"] = denial.port;
    }
    if (denial.folded > 0) json["folded"] = denial.folded;
}

Json to_json(const Denial& denial) {
    Json json;
    json["event"] = "denied";
    json["seq"] = denial.seq;
    json["time"] = in_seconds(denial.time);
    json["kind"] = to_string(denial.kind);
    json["operation"] = denial.operation;
    put_path(json, "path", denial.path);
    put_path(json, "resolved", denial.resolved);
    json["errno"] = text_or_null(errno_name(denial.error));
    json["rule"] = denial.rule;
    json["reason"] = text_or_null(denial.reason);
    json["pid"] = denial.pid;
    json["program"] = denial.program;
    json["writable_roots"] = denial.writable_roots;
    json["probe"] = denial.probe;
    put_optional_facts(json, denial);
    return json;
}

Json to_json(const Warning& warning) {
    Json json;
    json["event"] = "warning";
    json["seq"] = warning.seq;
    json["text"] = warning.text;
    return json;
}

Json to_json(const StreamFacts& facts) {
    Json json;
    json["bytes"] = facts.bytes;
    json["kept"] = facts.kept;
    json["truncated"] = facts.truncated;
    return json;
}

Json to_json(const NotStarted& start) {
    const bool of_ours = start.error.category() == sandpipe_category();
    Json json;
    json["stage"] = to_string(start.stage);
    json["error"] = start.error ? Json(start.error.message()) : Json(nullptr);
    json["errno"] = of_ours ? Json(nullptr) : text_or_null(errno_name(start.error.value()));
    put_path(json, "path", start.path);
    json["hint"] = text_or_null(start.hint);
    return json;
}

void put_status(Json& json, const EndStatus& status) {
    const auto* exited = std::get_if<Exited>(&status);
    const auto* signaled = std::get_if<Signaled>(&status);
    json["status"] = exited ? "exited" : signaled ? "signaled" : "not_started";
    json["code"] = exited ? exited->code : -1;
    json["signal"] = signaled ? Json(signal_name(signaled->signal)) : Json(nullptr);
    json["core_dumped"] = signaled && signaled->core_dumped;
}

void put_facts(Json& json, const CommandFacts& facts) {
    put_status(json, facts.status);
    json["cause"] = to_string(facts.cause);
    json["forced"] = facts.forced;
    json["pipe_held_open"] = facts.pipe_held_open;
    json["survivors_ended"] = facts.survivors_ended;
    if (facts.abandoned) json["abandoned"] = true;
    json["stdout"] = to_json(facts.out_facts);
    json["stderr"] = to_json(facts.err_facts);
    json["queued_ms"] = in_milliseconds(facts.queued);
    json["duration_ms"] = in_milliseconds(facts.wall);
    json["user_ms"] = in_milliseconds(facts.user);
    json["system_ms"] = in_milliseconds(facts.system);
    json["max_rss_bytes"] = facts.max_rss;
}

// Each of a flood counts, also those that were folded into one.
std::uint64_t refused_calls(const std::vector<Denial>& denials) {
    std::uint64_t calls = denials.size();
    for (const Denial& denial : denials) calls += denial.folded;
    return calls;
}

void put_end(Json& json, const CommandResult& result) {
    put_facts(json, result);
    json["denials"] = refused_calls(result.denials);
    json["denials_complete"] = result.denials_complete;
    json["limit_hit"] = text_or_null(result.limit_hit);
    const auto* start = std::get_if<NotStarted>(&result.status);
    json["start_failure"] = start ? to_json(*start) : Json(nullptr);
}

Json to_json(const Finished& finished) {
    Json json;
    json["event"] = "end";
    put_end(json, finished.result);
    return json;
}

// An own error's stage: the command line and the policy are the user's, everything else is the sandbox's.
Stage stage_of(Errc code) {
    switch (code) {
        case Errc::invalid_sandbox_config:
        case Errc::sandbox_path_escape:
        case Errc::sandbox_policy_conflict:
        case Errc::sandbox_narrowing_unsupported:
        case Errc::sandbox_gate_required:
            return Stage::options;
        case Errc::sandbox_unsupported_env:
        case Errc::sandbox_refused:
        case Errc::sandbox_dependency_missing:
        case Errc::sandbox_not_initialized:
        case Errc::sandbox_failed:
            return Stage::wrap;
    }
    return Stage::wrap;
}

}  // namespace

std::string start_line(std::string_view marker, const EnforcementReport* enforcement) {
    Json json;
    json["event"] = "start";
    json["marker"] = marker;
    json["enforcement"] = enforcement ? Json(enforcement->to_json()) : Json(nullptr);
    return line(json);
}

std::string event_line(const OutputEvent& event) {
    return line(std::visit([](const auto& value) { return to_json(value); }, event));
}

std::string result_object(const BinaryExecResult& result) {
    CommandResult end;
    static_cast<CommandFacts&>(end) = result;
    Json json;
    json["event"] = "end";
    json["exit_code"] = result.exit_code;
    put_bytes(json, "out", result.out);
    put_bytes(json, "err", result.err);
    json["failed"] = result.failed;
    put_end(json, end);
    return line(json);
}

std::string explanation_line(const std::string& act, const std::string& target, const Explanation& answer) {
    Json json;
    json["act"] = act;
    put_path(json, "target", target);
    json["allowed"] = answer.allowed;
    json["rule"] = answer.rule;
    return line(json);
}

std::string refusal_line(const CommandResult& result) {
    const auto& start = std::get<NotStarted>(result.status);
    Json json;
    json["error"] = start.error.message();
    json["hint"] = start.hint;
    return line(json);
}

CommandResult refusal(const Error& error) {
    CommandResult result;
    if (const auto* shortage = dynamic_cast<const detail::Shortage*>(&error)) {
        const std::error_code code(shortage->error(), std::generic_category());
        result.status = NotStarted{Stage::resources, code, "", error.text()};
        return result;
    }
    result.status = NotStarted{stage_of(error.errc()), error.code(), "", error.text()};
    return result;
}

CommandResult refusal(const std::system_error& error) {
    CommandResult result;
    result.status = NotStarted{Stage::resources, std::error_code(error.code().value(), std::generic_category()), "",
                               std::string(error.what()) + "; see ulimit -n and ulimit -u"};
    return result;
}

CommandResult cancelled_start() {
    CommandResult result;
    result.cause = Cause::cancelled;
    result.status = NotStarted{Stage::queue, std::make_error_code(std::errc::operation_canceled), "", ""};
    return result;
}

}  // namespace sandpipe::cli
