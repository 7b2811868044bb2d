#include "entry.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sandpipe::detail {
namespace {

void put_command_back(InvocationFields& fields, const Entry& entry) {
    std::vector<std::string> argv{fields.program};
    argv.insert(argv.end(), fields.args.begin(), fields.args.end());
    const auto found = std::search(argv.begin(), argv.end(), entry.relay.begin(), entry.relay.end());
    if (found == argv.end()) return;
    const auto after = found + static_cast<std::ptrdiff_t>(entry.relay.size());
    std::vector<std::string> whole(argv.begin(), found);
    whole.insert(whole.end(), entry.command.begin(), entry.command.end());
    whole.insert(whole.end(), after, argv.end());
    fields.program = whole.front();
    fields.args.assign(whole.begin() + 1, whole.end());
}

}  // namespace

void enter_directly(InvocationFields& fields) {
    const std::shared_ptr<const Entry> entry = std::exchange(fields.entry, nullptr);
    if (!entry) return;
    put_command_back(fields, *entry);
    if (fields.cwd.empty()) fields.cwd = entry->cwd;
    if (entry->retire) entry->retire();
}

void enter_by_ticket(InvocationFields& relay, InvocationFields command) {
    relay.program = std::move(command.program);
    relay.args = std::move(command.args);
    relay.cwd = std::move(command.cwd);
    relay.env = std::move(command.env);
    relay.session = std::move(command.session);
    if (!relay.timeout) relay.timeout = command.timeout;
    if (!relay.limit) relay.limit = command.limit;
}

}  // namespace sandpipe::detail
