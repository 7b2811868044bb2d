#include "sandbox/policy/unix_socket_grants.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sandbox/policy/compile.hpp"
#include "sandbox/policy/own_places.hpp"
#include "sandbox/policy/planted_link.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe {

using wire::Access;

namespace {

/// Why a path does not grant what it leads to; empty: it does. No socket but those that are named can be reached, so a
/// link that a command may have made names none, wherever it leads. Links in the host's /tmp are the host's.
std::string doubt_about(const PolicyEntry& entry, const PathBase& base) {
    const ResolvedPath& path = entry.path;
    if (path.fact.kind == PathKind::directory) return path.place + " is a directory and no socket, and is not granted";
    std::string link = planted_link(path, base.written);
    if (link.empty()) link = written_link(path, base.roots);
    if (!link.empty())
        return entry.absolute + " leads to " + path.place + " by the link " + link +
               ", which a command may have made, and is not granted; name " + path.place + " itself";
    if (!base.wider) return {};
    const std::vector<std::string>& wider = base.wider->plan.unix_sockets;
    const bool known = std::find(wider.begin(), wider.end(), path.place) != wider.end();
    return known ? std::string() : "the session that this one comes from has not " + path.place + ": it is not granted";
}

}  // namespace

std::vector<PolicyEntry> unix_sockets_of(const std::vector<std::string>& paths, const PathBase& base,
                                         std::vector<std::string>& warnings) {
    std::vector<PolicyEntry> entries;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        PolicyEntry entry;
        entry.where = "network.allowUnixSockets[" + std::to_string(i) + "]";
        entry.rule = "allowUnixSockets " + paths[i];
        entry.absolute = absolute_path(paths[i], base.workspace, base.home, entry.where);
        entry.path = resolve_path(entry.absolute, base.facts);
        const std::string doubt = doubt_about(entry, base);
        if (doubt.empty())
            entries.push_back(std::move(entry));
        else
            warnings.push_back(entry.where + ": " + doubt);
    }
    return entries;
}

void show_unix_sockets(const std::vector<PolicyEntry>& sockets, PolicyRules& rules) {
    MountInput& found = rules.found;
    for (const PolicyEntry& entry : sockets) {
        const std::string& place = entry.path.place;
        // The grant is of what the host has at that name, and commands could give the name to another socket.
        rules.protect_name(entry);
        const View view = view_of(found, place);
        if (view == View::own_tmp && entry.path.fact.kind != PathKind::missing) {
            found.rules.add({Access::allow_read, place, entry.rule, {}, false});
            found.places[place] = entry.path.fact.kind == PathKind::directory;
        }
        if (view == View::own_tmp && entry.path.fact.kind == PathKind::missing)
            rules.warn(entry.rule + " is not there yet, and the session's own /tmp hides what comes later");
        if (view == View::masked)
            rules.warn(entry.rule + " grants nothing: " + found.rules.read(place).rule + " prevails");
    }
}

}  // namespace sandpipe
