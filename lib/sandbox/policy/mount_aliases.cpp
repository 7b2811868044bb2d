#include "sandbox/policy/mount_aliases.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/resolved_path.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {
namespace {

bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

/// proc(5): space, tab, newline and backslash are written as "\040" and the like.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
                            is_octal(text[i + 3]);
        if (!escape) {
            plain += text[i];
            continue;
        }
        plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
        i += 3;
    }
    return plain;
}

std::string_view take_until(std::string_view& rest, char end) {
    const std::string_view taken = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
    return taken;
}

/// After the options and any number of optional fields there is a lone "-".
std::string type_in(std::string_view rest) {
    constexpr std::string_view kSeparator = " - ";
    const std::size_t end = rest.find(kSeparator);
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + kSeparator.size());
    return std::string(take_until(rest, ' '));
}

/// `path`, which `from` holds, as it is called where `from` is `to`.
std::string moved(std::string_view path, std::string_view from, std::string_view to) {
    const std::string_view below = wire::relative_to(from, path);
    return below.empty() ? std::string(to) : join_path(to, below);
}

/// What is seen at `place`: of the innermost points the one that was mounted last.
const HostMount* mount_at(std::string_view place, const std::vector<HostMount>& mounts) {
    const HostMount* found = nullptr;
    for (const HostMount& mount : mounts)
        if (wire::holds(mount.point, place) && (!found || mount.point.size() >= found->point.size())) found = &mount;
    return found;
}

/// Mounts that hold `place`, which is on `own`, and those of something below it.
void add_others(std::string_view place, const HostMount& own, const std::vector<HostMount>& mounts,
                std::vector<OtherPath>& paths) {
    const std::string inner = moved(place, own.point, own.root);
    for (const HostMount& other : mounts) {
        if (&other == &own || other.device != own.device) continue;
        if (wire::holds(other.root, inner))
            paths.push_back({moved(inner, other.root, other.point), std::string(place)});
        else if (wire::holds(inner, other.root))
            paths.push_back({other.point, moved(other.root, inner, place)});
    }
}

/// The table of mounts does not tell what hides what, so the files themselves have the last word; of what does not
/// exist, the directories in which it would.
bool is_same(std::string place, std::string other, const PathFacts& facts) {
    PathFact one = facts.look(place);
    PathFact two = facts.look(other);
    while (!one.exists() && !two.exists() && place != "/" && other != "/") {
        place.resize(parent_path(place).size());
        other.resize(parent_path(other).size());
        one = facts.look(place);
        two = facts.look(other);
    }
    return one.exists() && two.exists() && one.device == two.device && one.inode == two.inode;
}

}  // namespace

std::vector<HostMount> parse_mount_table(std::string_view table) {
    std::vector<HostMount> mounts;
    while (!table.empty()) {
        std::string_view line = take_until(table, '\n');
        // mount id, its parent's id, device, root, point
        std::array<std::string_view, 5> fields;
        for (std::string_view& field : fields) field = take_until(line, ' ');
        HostMount mount{std::string(fields[2]), unescaped(fields[3]), unescaped(fields[4]), type_in(line)};
        if (mount.root.starts_with('/') && mount.point.starts_with('/')) mounts.push_back(std::move(mount));
    }
    return mounts;
}

std::vector<OtherPath> other_paths(std::string_view place, const std::vector<HostMount>& mounts) {
    std::vector<OtherPath> paths;
    const HostMount* own = mount_at(place, mounts);
    if (!own) return paths;
    add_others(place, *own, mounts, paths);
    for (const HostMount& below : mounts)
        if (&below != own && wire::holds(place, below.point) && below.point != place)
            add_others(below.point, below, mounts, paths);
    std::erase_if(paths, [&](const OtherPath& other) { return wire::holds(place, other.path); });
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    return paths;
}

std::vector<OtherPath> MountAliases::of(const std::string& place) const {
    std::vector<OtherPath> paths = other_paths(place, mounts_);
    std::erase_if(paths, [&](const OtherPath& other) {
        return is_in_own_tree(other.path) || !is_same(other.place, other.path, facts_);
    });
    return paths;
}

bool MountAliases::any_among(const std::vector<std::string>& trees) const {
    std::vector<std::string_view> devices;
    for (const HostMount& mount : mounts_)
        if (std::any_of(trees.begin(), trees.end(), [&](const std::string& tree) {
                return wire::holds(tree, mount.point) || wire::holds(mount.point, tree);
            }))
            devices.push_back(mount.device);
    std::sort(devices.begin(), devices.end());
    return std::adjacent_find(devices.begin(), devices.end()) != devices.end();
}

}  // namespace sandpipe
