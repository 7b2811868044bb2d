#include "sandbox/given_up.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace sandpipe {
namespace {

struct Loss {
    std::string_view mechanism;
    std::string_view text;
};

// One for each name that the launcher gives.
constexpr std::array kLosses{
    Loss{"uts", "commands see the host's name, not one of their own"},
    Loss{"ipc", "System V IPC and POSIX message queues of the host are within the commands' reach"},
    Loss{"user_namespace", "commands are the host's root, without capabilities, not one of a user namespace"},
    Loss{"proc", "commands find nothing in /proc, and have no supervisor"},
    Loss{"denials", "refused calls are not reported, and UNIX sockets exist in pairs only"},
    Loss{"names", "names that are denied and do not exist can be made, and what may not be written can be moved away"
                  " with the directory that it is in"},
    Loss{"execution", "programs that are not in allowExecute can be started with some effort"},
    Loss{"unix_sockets", "the sockets of allowUnixSockets are out of reach"},
    Loss{"landlock", "files are protected by mounts, and by the supervisor where there is one"},
};

std::string_view loss_of(std::string_view mechanism) {
    for (const Loss& loss : kLosses)
        if (loss.mechanism == mechanism) return loss.text;
    return "it is missing";
}

}  // namespace

std::string describe(const wire::GivenUp& given_up) {
    return "weaker: " + given_up.mechanism + " is given up, because this machine refuses what it needs (" +
           std::strerror(given_up.error) + "): " + std::string(loss_of(given_up.mechanism));
}

std::vector<std::string> describe(const std::vector<wire::GivenUp>& given_up) {
    std::vector<std::string> sentences;
    for (const wire::GivenUp& given : given_up) sentences.push_back(describe(given));
    return sentences;
}

}  // namespace sandpipe
