#include <sandpipe/text_renderer.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

#include "core/escaped.hpp"
#include "core/utf8.hpp"

namespace sandpipe {
namespace {

constexpr std::size_t kRootsShown = 8;

std::string line_start(std::string_view marker) { return "[sandbox " + std::string(marker) + "] "; }

std::string host_and_port(const Denial& denial) {
    const bool bare_ipv6 = denial.host.find(':') != std::string::npos && denial.host.front() != '[';
    std::string text = bare_ipv6 ? "[" + detail::escaped(denial.host) + "]" : detail::escaped(denial.host);
    if (denial.port != 0) text += ":" + std::to_string(denial.port);
    return text;
}

std::string act(const Denial& denial) {
    if (!denial.second_path.empty()) {
        return detail::escaped(denial.operation) + " " + detail::escaped(denial.path) + " -> " +
               detail::escaped(denial.second_path);
    }
    const std::string kind(to_string(denial.kind));
    if (!denial.host.empty()) return kind + " " + host_and_port(denial);
    if (!denial.path.empty()) return kind + " " + detail::escaped(denial.path);
    return kind + " " + detail::escaped(denial.operation);
}

// Where a path leads, if that is not the path itself: a model that sees "../x" must learn which place was
// meant.
std::string places(const Denial& denial) {
    const bool first = !denial.resolved.empty() && denial.resolved != denial.path;
    const bool second = !denial.second_resolved.empty() && denial.second_resolved != denial.second_path;
    if (!first && !second) return {};
    if (denial.second_path.empty()) return "that is " + detail::escaped(denial.resolved) + "; ";
    return "that is " + detail::escaped(first ? denial.resolved : denial.path) + " -> " +
           detail::escaped(second ? denial.second_resolved : denial.second_path) + "; ";
}

std::string roots(const std::vector<std::string>& writable_roots) {
    if (writable_roots.empty()) return "outside the writable roots: there are none";
    std::string text = "outside the writable roots: ";
    const std::size_t shown = std::min(writable_roots.size(), kRootsShown);
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + detail::escaped(writable_roots[i]);
    if (shown < writable_roots.size())
        text += " and " + std::to_string(writable_roots.size() - shown) + " more";
    return text;
}

std::string why(const Denial& denial) {
    std::string text = errno_name(denial.error);
    if (!denial.rule.empty()) text = "rule: " + detail::escaped(denial.rule);
    if (denial.rule.empty() && denial.kind == DenialKind::write) text = roots(denial.writable_roots);
    if (text.empty()) text = "not allowed";
    if (!denial.reason) return text;
    // Where no rule decided about a domain the reason says it all, and there was no call that had an errno.
    if (denial.rule.empty() && denial.kind == DenialKind::domain) return detail::escaped(*denial.reason);
    return text + "; " + detail::escaped(*denial.reason);
}

// 5s, 0.25s: as many decimals as it has.
std::string seconds(std::chrono::nanoseconds time) {
    constexpr std::int64_t kNanos = 1'000'000'000;
    std::string fraction = std::to_string(kNanos + time.count() % kNanos).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    const std::string whole = std::to_string(time.count() / kNanos);
    return fraction.empty() ? whole + "s" : whole + "." + fraction + "s";
}

std::string overflow(std::string_view stream, const StreamFacts& facts) {
    if (!facts.truncated) return {};
    return "; " + std::string(stream) + " kept " + std::to_string(facts.kept) + " bytes";
}

std::string cause_line(const CommandFacts& facts) {
    switch (facts.cause) {
        case Cause::timed_out:
            return facts.timeout ? "timed out after " + seconds(*facts.timeout) : "timed out";
        case Cause::cancelled:
            return "cancelled";
        case Cause::output_limit:
            return "output limit reached" + overflow("stdout", facts.out_facts) +
                   overflow("stderr", facts.err_facts);
        case Cause::lost:
            return "lost: the helper that held the command went away";
        case Cause::finished:
        case Cause::not_started:
            return {};
    }
    return {};
}

// The signals of the stop policy add nothing to "timed out".
bool is_our_signal(const Signaled& signaled, const CommandFacts& facts) {
    return facts.cause != Cause::finished && (signaled.signal == SIGTERM || signaled.signal == SIGKILL);
}

std::string status_line(const Exited& exited, const CommandFacts&) {
    return exited.code == 0 ? "" : "exit code " + std::to_string(exited.code);
}

std::string status_line(const Signaled& signaled, const CommandFacts& facts) {
    if (is_our_signal(signaled, facts)) return {};
    return "killed by " + signal_name(signaled.signal) + (signaled.core_dumped ? " (core dumped)" : "");
}

std::string status_line(const NotStarted& start, const CommandFacts& facts) {
    // A command that was cancelled or lost before its start has nothing to add to that.
    if (facts.cause != Cause::not_started && !start.error) return {};
    std::string text = "not started: " + std::string(to_string(start.stage));
    if (!start.path.empty()) text += " " + detail::escaped(start.path);
    if (start.error) text += ": " + detail::escaped(start.error.message());
    if (!start.hint.empty()) text += "; " + detail::escaped(start.hint);
    return text;
}

std::string with_marker(std::string_view marker, const std::string& line) {
    return line.empty() ? line : line_start(marker) + line + "\n";
}

std::string limit_line(const CommandResult& result) {
    return result.limit_hit ? "limit hit: " + detail::escaped(*result.limit_hit) : "";
}

// Only where somebody looks for a reason: a list that looks complete and is not would mislead.
std::string denials_line(const CommandResult& result) {
    return result.failed && !result.denials_complete ? "denials: partial; this kernel cannot report them all"
                                                     : "";
}

std::string end_lines(std::string_view marker, const CommandResult& result) {
    return trailer_lines(marker, result) + with_marker(marker, limit_line(result)) +
           with_marker(marker, denials_line(result));
}

}  // namespace

std::string marker_line(std::string_view marker, const Denial& denial) {
    std::string text = line_start(marker) + "denied: " + act(denial) + " (" + places(denial) + why(denial);
    if (denial.folded > 0) text += "; and " + std::to_string(denial.folded) + " more like it";
    return text + ")";
}

std::string trailer_lines(std::string_view marker, const CommandFacts& facts) {
    const std::string status =
        std::visit([&](const auto& ending) { return status_line(ending, facts); }, facts.status);
    const std::string rest = facts.abandoned ? "not ended by SIGKILL: it may still run" : "";
    return with_marker(marker, cause_line(facts)) + with_marker(marker, status) + with_marker(marker, rest);
}

std::string TextRenderer::render(const OutputEvent& event) {
    if (const auto* output = std::get_if<OutputChunk>(&event)) return chunk(*output);
    if (const auto* denial = std::get_if<Denial>(&event)) {
        return denial->probe ? std::string() : own_line(marker_line(marker_, *denial) + "\n");
    }
    if (const auto* warning = std::get_if<Warning>(&event)) {
        return own_line(line_start(marker_) + "warning: " + detail::escaped(warning->text) + "\n");
    }
    std::string text = flush();
    return text + own_line(end_lines(marker_, std::get<Finished>(event).result));
}

std::string TextRenderer::chunk(const OutputChunk& chunk) {
    std::string& pending = pending_[static_cast<std::size_t>(chunk.stream)];
    std::string text = std::exchange(pending, {}) + chunk.data;
    pending = text.substr(text.size() - detail::incomplete_utf8_tail(text));
    text.resize(text.size() - pending.size());
    if (!text.empty()) at_line_start_ = text.back() == '\n';
    return text;
}

std::string TextRenderer::own_line(const std::string& line) {
    if (line.empty()) return line;
    const bool mid_line = !std::exchange(at_line_start_, true);
    return mid_line ? "\n" + line : line;
}

std::string TextRenderer::flush() {
    std::string text;
    for (std::string& pending : pending_) text += std::exchange(pending, {});
    if (!text.empty()) at_line_start_ = false;
    return text;
}

}  // namespace sandpipe
