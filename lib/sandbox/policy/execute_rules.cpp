#include "sandbox/policy/execute_rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {
namespace {

using wire::Access;
using wire::AccessRule;
using wire::MountStep;

// Of a listed directory. Loaders are few, so more programs show no new ones.
constexpr std::size_t kMaxLookedAt = 20'000;

class LoaderSearch {
  public:
    LoaderSearch(wire::AccessRules& rules, const PathFacts& facts, std::vector<std::string>& warnings)
        : rules_(rules), facts_(facts), warnings_(warnings) {}

    void run() {
        for (const AccessRule& rule : rules_.all()) {
            if (rule.access != Access::allow_execute) continue;
            warn_of_writable(rule);
            if (facts_.look(rule.place).kind == PathKind::directory)
                look_into(rule);
            else
                look_at(rule);
        }
        for (const auto& [loader, rule] : loaders_)
            rules_.add({Access::allow_execute, loader, rule + " (its loader)", {}, false});
    }

  private:
    void warn_of_writable(const AccessRule& rule) {
        const std::vector<std::string> roots = rules_.writable_roots();
        const bool has_root = std::any_of(roots.begin(), roots.end(), [&](const std::string& root) {
            return root != rule.place && wire::holds(rule.place, root) && rules_.write(root).allowed;
        });
        const bool writable = rules_.write(rule.place).allowed;
        if (!writable && !has_root) return;
        const bool is_directory = facts_.look(rule.place).kind == PathKind::directory;
        warnings_.push_back(rule.text + ": commands can write " + (writable ? "" : "in ") + rule.place +
                            (is_directory ? ", and so execute any program" : ", and so execute anything by that name"));
    }

    void look_at(const AccessRule& rule) {
        const sys::ProgramFacts program = facts_.program(rule.place);
        if (program.is_elf) return add_loader(rule, program);
        if (!program.is_script) return;
        const ResolvedPath interpreter = resolve_path("/" + program.interpreter, facts_);
        if (!rules_.execute(interpreter.place).allowed)
            warnings_.push_back(rule.text + ": " + rule.place + " is a script of " + program.interpreter +
                                ", which allowExecute does not list");
    }

    void look_into(const AccessRule& rule) {
        std::vector<std::string> ahead{rule.place};
        for (std::size_t looked = 0; !ahead.empty();) {
            const std::string here = std::move(ahead.back());
            ahead.pop_back();
            for (const DirectoryEntry& entry : facts_.list(here).entries) {
                std::string path = join_path(here, entry.name);
                if (entry.kind == PathKind::file) {
                    if (++looked > kMaxLookedAt) return;
                    add_loader(rule, facts_.program(path));
                }
                if (entry.kind == PathKind::directory) ahead.push_back(std::move(path));
            }
        }
    }

    void add_loader(const AccessRule& rule, const sys::ProgramFacts& program) {
        if (!program.is_elf || !program.is_program || program.interpreter.empty()) return;
        if (!seen_.insert(program.interpreter).second) return;
        const ResolvedPath loader = resolve_path("/" + program.interpreter, facts_);
        if (loader.fact.kind == PathKind::file) loaders_.emplace(loader.place, rule.text);
    }

    wire::AccessRules& rules_;
    const PathFacts& facts_;
    std::vector<std::string>& warnings_;
    std::set<std::string> seen_;
    std::set<std::pair<std::string, std::string>> loaders_;
};

/// Whether programs stand on a mount at `place` itself. What cannot be written in a root has a mount of its own.
bool has_programs(const wire::AccessRules& rules, std::string_view place) {
    bool has = false;
    rules.visit_above(place, [&](const AccessRule& rule) { has = has || rule.access == Access::allow_execute; });
    rules.visit_below(place, [&](const AccessRule& rule) {
        has = has || (rule.access == Access::allow_execute && rules.write(rule.place).allowed);
    });
    return has;
}

}  // namespace

void allow_loaders(wire::AccessRules& rules, const PathFacts& facts, std::vector<std::string>& warnings) {
    if (rules.restrict_execute) LoaderSearch(rules, facts, warnings).run();
}

void forbid_execution(const wire::AccessRules& rules, std::vector<wire::MountOp>& mounts) {
    if (!rules.restrict_execute) return;
    for (wire::MountOp& op : mounts) {
        const bool writable = op.step == MountStep::place_writable || op.step == MountStep::private_tmp;
        if (op.step == MountStep::private_dev) op.noexec = true;
        if (writable) op.noexec = !has_programs(rules, op.path);
    }
}

}  // namespace sandpipe
