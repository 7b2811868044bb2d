#include "launcher/command/process_table.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sandpipe::launcher {
namespace {

template <typename Map, typename Key>
void append(std::vector<ProcessFacts>& found, const Map& map, const Key& key) {
    const auto [first, last] = map.equal_range(key);
    for (auto entry = first; entry != last; ++entry) found.push_back(entry->second);
}

}  // namespace

ProcessTable::ProcessTable(const std::vector<ProcessFacts>& all, pid_t self,
                           const std::unordered_set<pid_t>& leaders, const MarkOf& mark_of) {
    for (const ProcessFacts& facts : all) {
        children_.emplace(facts.parent, facts);
        if (!facts.dead) by_group_.emplace(facts.group, facts);
    }
    std::vector<ProcessFacts> tops;
    append(tops, children_, self);
    for (const ProcessFacts& top : tops) put_below(top, leaders, mark_of);
    children_.clear();
}

/// `top` is a child of the launcher: a command's leader, what lost its parent, or something else altogether.
void ProcessTable::put_below(const ProcessFacts& top, const std::unordered_set<pid_t>& leaders,
                             const MarkOf& mark_of) {
    const bool of_leader = leaders.contains(top.pid);
    struct Found {
        ProcessFacts facts;
        std::set<rlim_t> marks;  // of its ancestors: a command may run sandpipe itself, which marks anew
    };
    std::vector<Found> open{{top, {}}};
    while (!open.empty()) {
        Found found = std::move(open.back());
        open.pop_back();
        const ProcessFacts& facts = found.facts;
        if (of_leader && !facts.dead && facts.group != top.pid) by_leader_.emplace(top.pid, facts);
        if (!of_leader && !facts.dead) found.marks.insert(mark_of(facts.pid));
        for (const rlim_t mark : found.marks)
            if (!facts.dead) by_mark_.emplace(mark, facts);
        std::vector<ProcessFacts> below;
        append(below, children_, facts.pid);
        for (const ProcessFacts& child : below) open.push_back({child, found.marks});
    }
}

CommandTree ProcessTable::tree_of(pid_t leader, rlim_t mark) const {
    CommandTree tree;
    append(tree.in_group, by_group_, leader);
    append(tree.escaped, by_leader_, leader);
    append(tree.escaped, by_mark_, mark);
    std::erase_if(tree.escaped, [leader](const ProcessFacts& facts) { return facts.group == leader; });
    return tree;
}

}  // namespace sandpipe::launcher
