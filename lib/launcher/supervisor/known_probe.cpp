#include "launcher/supervisor/known_probe.hpp"

#include <algorithm>
#include <array>

namespace sandpipe::launcher {
namespace {

enum class Where { exactly, below_name };

struct KnownProbe {
    std::string_view operation;  // "" for any
    Where where;
    std::string_view place;
};

constexpr auto kProbes = std::to_array<KnownProbe>({
    // Python keeps compiled modules beside the sources, and does without where it cannot.
    {"", Where::below_name, "__pycache__"},
    // Java says at each start what of it a core dump should have.
    {"open", Where::below_name, "coredump_filter"},
    // Name services that libc asks before it reads the files itself (nscd(8), nss-systemd(8), nss-resolve(8)).
    {"connect", Where::exactly, "/run/nscd/socket"},
    {"connect", Where::exactly, "/var/run/nscd/socket"},
    {"connect", Where::exactly, "/run/systemd/userdb/io.systemd.DynamicUser"},
    {"connect", Where::exactly, "/run/systemd/userdb/io.systemd.Multiplexer"},
    {"connect", Where::exactly, "/run/systemd/userdb/io.systemd.NameServiceSwitch"},
    {"connect", Where::exactly, "/run/systemd/resolve/io.systemd.Resolve"},
    {"connect", Where::exactly, "/var/lib/sss/pipes/nss"},
});

bool has_component(std::string_view place, std::string_view name) noexcept {
    for (std::size_t at = 0; (at = place.find(name, at)) != std::string_view::npos; ++at) {
        const std::size_t end = at + name.size();
        if (at > 0 && place[at - 1] == '/' && (end == place.size() || place[end] == '/')) return true;
    }
    return false;
}

}  // namespace

bool is_known_probe(std::string_view operation, std::string_view place) noexcept {
    return std::any_of(kProbes.begin(), kProbes.end(), [&](const KnownProbe& probe) {
        if (!probe.operation.empty() && probe.operation != operation) return false;
        return probe.where == Where::exactly ? place == probe.place : has_component(place, probe.place);
    });
}

}  // namespace sandpipe::launcher
