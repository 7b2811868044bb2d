#include "launcher/cell/id_maps.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "sys/descriptors.hpp"

namespace sandpipe::launcher {
namespace {

int write_file(const std::string& path, const std::string& content) {
    unique_fd file;
    if (const int error = sys::open_file(path.c_str(), O_WRONLY, 0, file); error < 0) return error;
    // A map is taken in one write or not at all.
    return ::write(file.get(), content.data(), content.size()) < 0 ? -errno : 0;
}

/// The ids that this process itself can name, each mapped to itself: inside another user namespace the whole
/// range is refused.
std::string identity_of_own(const char* own_map) {
    std::string map;
    FILE* file = std::fopen(own_map, "re");
    if (!file) return map;
    unsigned long inside = 0;
    unsigned long outside = 0;
    unsigned long count = 0;
    while (std::fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
        map += std::to_string(inside) + " " + std::to_string(inside) + " " + std::to_string(count) + "\n";
    std::fclose(file);
    return map;
}

Outcome write_map(pid_t child, const char* name, unsigned own_id) {
    const std::string path = "/proc/" + std::to_string(child) + "/" + name;
    const std::string single = std::to_string(own_id) + " " + std::to_string(own_id) + " 1\n";
    const std::string own_map = std::string("/proc/self/") + name;
    const std::string map = ::geteuid() == 0 ? identity_of_own(own_map.c_str()) : single;
    const int error = write_file(path, map);
    if (error < 0) return fail(Stage::namespaces, -error, name);
    return {};
}

}  // namespace

Outcome write_id_maps(pid_t child) {
    const std::string setgroups = "/proc/" + std::to_string(child) + "/setgroups";
    if (::geteuid() != 0)
        if (const int error = write_file(setgroups, "deny"); error < 0)
            return fail(Stage::namespaces, -error, "setgroups");
    if (Outcome failure = write_map(child, "uid_map", ::geteuid())) return failure;
    return write_map(child, "gid_map", ::getegid());
}

}  // namespace sandpipe::launcher
