#include "path_redactor.hpp"

#include <utility>

#include "overloaded.hpp"
#include "stage_kind.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe::tool {
namespace {

using wire::holds;

// What may stand beside a path in a sentence.
bool is_border(char c) {
    return std::string_view(" \t\n\"'`:;,()[]{}<>=|").find(c) != std::string_view::npos;
}

/// Whether `text` begins with `place` as a whole path, or with one below it.
bool begins_with_place(std::string_view text, std::string_view place) {
    if (!text.starts_with(place)) return false;
    return text.size() == place.size() || text[place.size()] == '/' || is_border(text[place.size()]);
}

std::string_view parent(std::string_view path) { return path.substr(0, path.rfind('/')); }

}  // namespace

PathRedactor::PathRedactor(std::string workspace) : workspace_(std::move(workspace)) {
    hide(workspace_, ".");
}

void PathRedactor::hide(std::string_view place, std::string shown) {
    while (place.ends_with('/')) place.remove_suffix(1);
    if (place.starts_with('/')) hidden_.push_back({std::string(place), std::move(shown)});
}

template <typename Holds>
const PathRedactor::Hidden* PathRedactor::longest(Holds holds_it) const {
    const Hidden* best = nullptr;
    for (const Hidden& hidden : hidden_)
        if (holds_it(hidden.place) && (!best || hidden.place.size() > best->place.size())) best = &hidden;
    return best;
}

std::string PathRedactor::path(std::string_view path) const {
    const Hidden* hidden = longest([&](const std::string& place) { return holds(place, path); });
    return hidden ? hidden->shown + std::string(path.substr(hidden->place.size())) : std::string(path);
}

std::string PathRedactor::text(std::string_view text) const {
    std::string shown;
    while (!text.empty()) {
        const bool may_begin = shown.empty() || is_border(shown.back());
        const auto begins = [&](const std::string& place) { return begins_with_place(text, place); };
        if (const Hidden* hidden = may_begin && text[0] == '/' ? longest(begins) : nullptr) {
            shown += hidden->shown;
            text.remove_prefix(hidden->place.size());
        } else {
            shown += text[0];
            text.remove_prefix(1);
        }
    }
    return shown;
}

/// Where a path that was asked for leads to. One that was asked for relatively says nothing of where the
/// workspace stands, and neither must this.
std::string PathRedactor::resolved(const std::string& asked, std::string_view place) const {
    if (asked.starts_with('/') || holds(workspace_, place)) return path(place);
    std::string climb;
    for (std::string_view above = parent(workspace_); !above.empty(); above = parent(above)) {
        climb += climb.empty() ? ".." : "/..";
        if (holds(above, place)) return climb + std::string(place.substr(above.size()));
    }
    return path(place);
}

Denial PathRedactor::denial(Denial denial) const {
    denial.resolved = resolved(denial.path, denial.resolved);
    denial.second_resolved = resolved(denial.second_path, denial.second_resolved);
    denial.path = path(denial.path);
    denial.second_path = path(denial.second_path);
    denial.rule = text(denial.rule);
    if (denial.reason) denial.reason = text(*denial.reason);
    for (std::string& root : denial.writable_roots) root = path(root);
    return denial;
}

CommandResult PathRedactor::result(CommandResult result) const {
    for (Denial& entry : result.denials) entry = denial(std::move(entry));
    if (auto* start = std::get_if<NotStarted>(&result.status)) {
        const bool of_the_machine = is_of_the_machine(start->stage);
        start->path = of_the_machine ? std::string() : path(start->path);
        start->hint = of_the_machine ? std::string() : text(start->hint);
    }
    return result;
}

OutputEvent PathRedactor::event(const OutputEvent& event) const {
    const Overloaded cases{
        [](const OutputChunk& chunk) { return OutputEvent(chunk); },
        [&](const Denial& refused) { return OutputEvent(denial(refused)); },
        [&](const Warning& warning) {
            return OutputEvent(Warning{warning.seq, warning.time, text(warning.text)});
        },
        [&](const Finished& end) {
            return OutputEvent(Finished{end.seq, end.time, result(end.result)});
        },
    };
    return std::visit(cases, event);
}

}  // namespace sandpipe::tool
