#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sandpipe {

/// What becomes of a key of a foreign settings file.
enum class SrtTreatment : std::uint8_t {
    taken,        ///< our key of the same name
    credentials,  ///< files are denied for reading; variables are not passed on anyway
    safe_directories,
    needless,      ///< asks for what is so anyway: no warning
    not_on_linux,  ///< means nothing on Linux
    not_here,      ///< a tool, a report or a grant that this library does not have
    weaker,        ///< enable_weaker_nested_sandbox, which no file of settings switches on
    restricts,     ///< would have to be enforced, and is not: an error unless it is off
};

struct SrtKey {
    std::string_view section;  ///< "filesystem", "network", "git"; empty for a key of the file itself
    std::string_view name;
    SrtTreatment treatment;
};

inline constexpr std::array kSrtKeys{
    SrtKey{"filesystem", "denyRead", SrtTreatment::taken},
    SrtKey{"filesystem", "allowRead", SrtTreatment::taken},
    SrtKey{"filesystem", "allowWrite", SrtTreatment::taken},
    SrtKey{"filesystem", "denyWrite", SrtTreatment::taken},
    SrtKey{"filesystem", "allowGitConfig", SrtTreatment::taken},
    SrtKey{"filesystem", "disabled", SrtTreatment::taken},
    SrtKey{"network", "allowedDomains", SrtTreatment::taken},
    SrtKey{"network", "deniedDomains", SrtTreatment::taken},
    SrtKey{"network", "deniedDomainReasons", SrtTreatment::taken},
    SrtKey{"network", "strictAllowlist", SrtTreatment::needless},
    SrtKey{"network", "allowUnixSockets", SrtTreatment::not_on_linux},
    SrtKey{"network", "allowLocalBinding", SrtTreatment::not_on_linux},
    SrtKey{"network", "allowMachLookup", SrtTreatment::not_on_linux},
    SrtKey{"network", "allowAllUnixSockets", SrtTreatment::not_here},
    SrtKey{"network", "allowPlaintextHeaderSet", SrtTreatment::not_here},
    SrtKey{"network", "ambiguousRequestTarget", SrtTreatment::not_here},
    SrtKey{"network", "parentProxy", SrtTreatment::not_here},
    SrtKey{"network", "tlsTerminate", SrtTreatment::not_here},
    SrtKey{"network", "deniedResolvedAddresses", SrtTreatment::restricts},
    SrtKey{"network", "httpProxyPort", SrtTreatment::restricts},
    SrtKey{"network", "socksProxyPort", SrtTreatment::restricts},
    SrtKey{"network", "mitmProxy", SrtTreatment::restricts},
    SrtKey{"network", "stripResponseHeaders", SrtTreatment::restricts},
    SrtKey{"network", "refuseOpaqueTunnels", SrtTreatment::restricts},
    SrtKey{"network", "requireHostMatch", SrtTreatment::restricts},
    SrtKey{"git", "safeDirectories", SrtTreatment::safe_directories},
    SrtKey{"", "credentials", SrtTreatment::credentials},
    SrtKey{"", "allowNestedUserNamespaces", SrtTreatment::taken},
    SrtKey{"", "enableWeakerNestedSandbox", SrtTreatment::weaker},
    SrtKey{"", "ignoreViolations", SrtTreatment::not_here},
    SrtKey{"", "mandatoryDenySearchDepth", SrtTreatment::not_here},
    SrtKey{"", "ripgrep", SrtTreatment::not_here},
    SrtKey{"", "seccomp", SrtTreatment::not_here},
    SrtKey{"", "bwrapPath", SrtTreatment::not_here},
    SrtKey{"", "socatPath", SrtTreatment::not_here},
    SrtKey{"", "javaAgentJarPath", SrtTreatment::not_here},
    SrtKey{"", "enableWeakerNetworkIsolation", SrtTreatment::not_on_linux},
    SrtKey{"", "allowAppleEvents", SrtTreatment::not_on_linux},
    SrtKey{"", "allowPty", SrtTreatment::not_on_linux},
    SrtKey{"", "windows", SrtTreatment::not_on_linux},
    SrtKey{"", "$schema", SrtTreatment::needless},
};

}  // namespace sandpipe
