#include "unix_socket_grants.hpp"

#include <cstddef>
#include <utility>

#include "own_places.hpp"
#include "planted_link.hpp"
#include "resolved_path.hpp"

namespace sandpipe {

using wire::Access;

std::vector<PolicyEntry> unix_sockets_of(const std::vector<std::string>& paths, const PathBase& base,
                                         std::vector<std::string>& warnings) {
    std::vector<PolicyEntry> entries;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        PolicyEntry entry;
        entry.where = "network.allowUnixSockets[" + std::to_string(i) + "]";
        entry.rule = "allowUnixSockets " + paths[i];
        entry.absolute = absolute_path(paths[i], base.workspace, base.home, entry.where);
        entry.path = resolve_path(entry.absolute, base.facts);
        if (entry.path.fact.kind == PathKind::directory) {
            warnings.push_back(entry.where + ": " + entry.path.place +
                               " is a directory and no socket, and is not granted");
            continue;
        }
        const std::string link = planted_link(entry.path, base.written);
        if (link.empty())
            entries.push_back(std::move(entry));
        else
            warnings.push_back(entry.where + ": " + entry.absolute + " leads to " + entry.path.place +
                               " by the link " + link + ", which a command may have made, and is not granted");
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
