#include "process_table.hpp"

#include <algorithm>

namespace sandpipe::launcher {
namespace {

template <typename Map, typename Key>
void append(std::vector<ProcessFacts>& found, const Map& map, const Key& key) {
    const auto [first, last] = map.equal_range(key);
    for (auto entry = first; entry != last; ++entry) found.push_back(entry->second);
}

}  // namespace

ProcessTable::ProcessTable(const std::vector<ProcessFacts>& all, pid_t self,
                           const std::unordered_set<pid_t>& leaders, const MarksOf& marks_of) {
    for (const ProcessFacts& facts : all) {
        children_.emplace(facts.parent, facts);
        if (!facts.dead) by_group_.emplace(facts.group, facts);
    }
    std::vector<ProcessFacts> tops;
    append(tops, children_, self);
    for (const ProcessFacts& top : tops) put_below(top, leaders, marks_of);
    children_.clear();
}

/// `top` is a child of the launcher: a command's leader, what lost its parent, or something else altogether.
void ProcessTable::put_below(const ProcessFacts& top, const std::unordered_set<pid_t>& leaders,
                             const MarksOf& marks_of) {
    const bool of_leader = leaders.contains(top.pid);
    std::vector<ProcessFacts> open{top};
    while (!open.empty()) {
        const ProcessFacts facts = open.back();
        open.pop_back();
        append(open, children_, facts.pid);
        if (facts.dead) continue;
        if (of_leader && facts.group != top.pid) by_leader_.emplace(top.pid, facts);
        if (of_leader) continue;
        for (std::string& mark : marks_of(facts.pid)) by_mark_.emplace(std::move(mark), facts);
    }
}

CommandTree ProcessTable::tree_of(pid_t leader, const std::string& mark) const {
    CommandTree tree;
    append(tree.in_group, by_group_, leader);
    append(tree.escaped, by_leader_, leader);
    append(tree.escaped, by_mark_, mark);
    std::erase_if(tree.escaped, [leader](const ProcessFacts& facts) { return facts.group == leader; });
    return tree;
}

}  // namespace sandpipe::launcher
