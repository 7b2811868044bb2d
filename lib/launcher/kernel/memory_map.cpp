#include "launcher/kernel/memory_map.hpp"

#include <sandpipe/unique_fd.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace sandpipe::launcher {
namespace {

struct Closer {
    void operator()(FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Closer>;

bool parse(const char* line, Mapping& mapping) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long inode = 0;
    unsigned major = 0;
    unsigned minor = 0;
    int name = 0;
    std::array<char, 5> rights{};
    constexpr const char* kForm = "%lx-%lx %4s %*x %x:%x %lu%n";
    if (std::sscanf(line, kForm, &begin, &end, rights.data(), &major, &minor, &inode, &name) != 6) return false;
    mapping.begin = begin;
    mapping.end = end;
    mapping.executable = rights[2] == 'x';
    mapping.device = ::makedev(major, minor);
    mapping.inode = inode;
    mapping.path = line + name;
    mapping.path.erase(0, std::min(mapping.path.find_first_not_of(' '), mapping.path.size()));
    if (mapping.path.ends_with('\n')) mapping.path.pop_back();
    return true;
}

/// The kernel's own file system, to which nothing gets by a path: it has shared memory, and memfds.
dev_t device_of_shared_memory() {
    static const dev_t device = [] {
        const unique_fd memory(::memfd_create("sandpipe-device", MFD_CLOEXEC));
        struct stat status {};
        return memory && ::fstat(memory.get(), &status) == 0 ? status.st_dev : dev_t{0};
    }();
    return device;
}

}  // namespace

bool Mapping::is_anonymous() const {
    if (path.empty() || path.front() == '[') return true;
    if (device == 0 || device != device_of_shared_memory()) return false;
    return path == "/dev/zero (deleted)" || path.starts_with("/SYSV");
}

int visit_mappings(pid_t thread, std::uint64_t begin, std::uint64_t end,
                   const std::function<bool(const Mapping&)>& visit) {
    const File maps(std::fopen(("/proc/" + std::to_string(thread) + "/maps").c_str(), "re"));
    if (!maps) return -errno;
    char* text = nullptr;
    std::size_t size = 0;
    bool goes_on = true;
    while (goes_on && ::getline(&text, &size, maps.get()) > 0) {
        Mapping mapping;
        if (!parse(text, mapping)) continue;
        if (mapping.begin >= end) break;
        if (mapping.end > begin) goes_on = visit(mapping);
    }
    const int error = std::ferror(maps.get()) ? -EIO : 0;
    std::free(text);
    return error;
}

int mapping_of(int file, Mapping& mapping) {
    void* memory = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) return -errno;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    mapping = {};
    const int error = visit_mappings(::getpid(), address, address + 1, [&](const Mapping& found) {
        mapping = found;
        return false;
    });
    ::munmap(memory, 1);
    if (error < 0) return error;
    return mapping.inode != 0 ? 0 : -ENOENT;
}

}  // namespace sandpipe::launcher
