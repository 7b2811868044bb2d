#include <algorithm>
#include <utility>

#include "process/audit_trail.hpp"
#include "process/command_core.hpp"

namespace sandpipe::detail {
namespace {

Denial denial_from(const wire::Denied& message) {
    Denial denial;
    denial.kind = static_cast<DenialKind>(message.kind);
    denial.operation = message.operation;
    denial.path = message.path;
    denial.resolved = message.resolved;
    denial.second_path = message.second_path;
    denial.second_resolved = message.second_resolved;
    denial.host = message.host;
    denial.port = message.port;
    denial.error = message.error;
    denial.rule = message.rule;
    denial.pid = message.pid;
    denial.program = message.program;
    denial.probe = message.probe;
    denial.folded = message.folded;
    return denial;
}

/// Of thousands, as a glob may grant, each denial would carry a copy.
std::vector<std::string> first_of(const std::vector<std::string>& roots) {
    constexpr std::size_t kMostRoots = 64;
    return {roots.begin(), roots.begin() + static_cast<std::ptrdiff_t>(std::min(roots.size(), kMostRoots))};
}

}  // namespace

/// The place of the denial is noted, and the call let go, at once; the marker takes its place when the output
/// before it has passed, however late the consumer asks for that.
void CommandCore::on_denied(const wire::Denied& message) {
    if (!program_started_) refused_by_ = message.rule;
    add_denial(denial_from(message));
    if (message.id != 0) tell(wire::encode(wire::Acknowledge{message.id}));
    pass_on();
}

void CommandCore::add_denial(Denial denial) {
    if (program_started_) denial.time = since_start();
    if (fields_.session) denial.writable_roots = first_of(fields_.session->writable_roots());
    const OutputSequencer::Positions ends{read_bytes_[0] + unread(0), read_bytes_[1] + unread(1)};
    const std::string& place = denial.host.empty() ? denial.resolved : denial.host;
    runtime_->log(LogLevel::info, id_, "denied " + denial.operation + " " + place);
    if (fields_.audit) fields_.audit->record(id_, DeniedAct{denial});
    sequencer_.on_denial(std::move(denial), ends);
}

// ---- Connections that a proxy refused ----

void CommandCore::look_for_socket(std::shared_ptr<SocketSearch> search) {
    if (io_released_) return search->not_found();
    on_strand([search = std::move(search)](CommandCore& core) { core.ask_for_socket(search); });
}

void CommandCore::ask_for_socket(std::shared_ptr<SocketSearch> search) {
    if (settled_ || !io_ || !io_->record) return search->not_found();
    const SocketEnds& ends = search->ends();
    const std::uint64_t id = ++last_search_;
    const wire::FindSocketHolder question{id, ends.address, ends.port, ends.peer_port};
    searches_.emplace(id, std::move(search));
    tell(wire::encode(question));
}

/// The connection waits for its refusal meanwhile, so the denial's place is as exact as that of a refused call.
void CommandCore::on_socket_holder(const wire::SocketHolder& message) {
    const auto found = searches_.find(message.id);
    if (found == searches_.end()) return;
    const std::shared_ptr<SocketSearch> search = std::move(found->second);
    searches_.erase(found);
    const bool holds_it = message.pid != 0;
    if (!search->denial()) return holds_it ? search->found() : search->not_found();
    if (!holds_it && !search->is_sole()) return search->not_found();
    Denial denial = *search->denial();
    denial.pid = message.pid;
    denial.program = message.program;
    if (std::optional<Denial> told = refused_hosts_.admit(std::move(denial))) add_denial(std::move(*told));
    pass_on();
    search->found();
}

void CommandCore::tell_folded_hosts() {
    if (std::optional<Denial> rest = refused_hosts_.rest()) add_denial(std::move(*rest));
}

void CommandCore::end_searches() {
    for (const auto& [id, search] : std::exchange(searches_, {})) search->not_found();
}

}  // namespace sandpipe::detail
