#include "launcher/paths/supervised_caller.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

/// A name below /proc/PID.
class ProcPath {
  public:
    ProcPath(pid_t pid, const char* name) noexcept {
        std::snprintf(text_, sizeof text_, "/proc/%d/%s", pid, name);
    }
    ProcPath(pid_t pid, int descriptor) noexcept {
        std::snprintf(text_, sizeof text_, "/proc/%d/fd/%d", pid, descriptor);
    }
    [[nodiscard]] const char* c_str() const noexcept { return text_; }

  private:
    char text_[64];
};

int open_handle(const ProcPath& path, int flags, unique_fd& object) {
    object.reset(::open(path.c_str(), O_PATH | O_CLOEXEC | flags));
    return object ? 0 : -errno;
}

std::string read_start(const ProcPath& path) {
    char bytes[512];
    const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t size = file ? ::read(file.get(), bytes, sizeof bytes) : -1;
    return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

template <typename T>
void parse_field(std::string_view status, std::string_view name, int base, T& value) {
    const std::size_t at = status.find(name);
    if (at == std::string_view::npos) return;
    std::string_view rest = status.substr(at + name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    T parsed{};
    if (std::from_chars(rest.data(), rest.data() + rest.size(), parsed, base).ec == std::errc{})
        value = parsed;
}

}  // namespace

int Caller::read(std::uint64_t address, void* bytes, std::size_t size) const {
    iovec to{bytes, size};
    iovec from{reinterpret_cast<void*>(address), size};
    const ssize_t got = ::process_vm_readv(thread_, &to, 1, &from, 1, 0);
    if (got < 0) return -errno;
    return static_cast<std::size_t>(got) == size ? 0 : -EFAULT;
}

/// Most paths are short and in one page, which is much less work than to read as much as there may be.
bool Caller::read_short_path(std::uint64_t address, std::string& path) const {
    char bytes[256];
    iovec to{bytes, sizeof bytes};
    iovec from{reinterpret_cast<void*>(address), std::min<std::size_t>(sizeof bytes, PATH_MAX - address % PATH_MAX)};
    const ssize_t got = ::process_vm_readv(thread_, &to, 1, &from, 1, 0);
    const auto* end = got > 0 ? static_cast<const char*>(std::memchr(bytes, '\0', static_cast<std::size_t>(got))) : nullptr;
    if (end) path.assign(bytes, static_cast<std::size_t>(end - bytes));
    return end != nullptr;
}

int Caller::read_path(std::uint64_t address, std::string& path) const {
    char bytes[PATH_MAX];
    if (read_short_path(address, path)) return 0;
    // Two pieces, because what follows the page in which the path begins need not be mapped.
    const std::size_t first = PATH_MAX - address % PATH_MAX;
    iovec to{bytes, sizeof bytes};
    const iovec from[]{{reinterpret_cast<void*>(address), first},
                       {reinterpret_cast<void*>(address + first), sizeof bytes - first}};
    const ssize_t got = ::process_vm_readv(thread_, &to, 1, from, 2, 0);
    if (got < 0) return -errno;
    const auto size = static_cast<std::size_t>(got);
    const auto* end = static_cast<const char*>(std::memchr(bytes, '\0', size));
    if (!end) return size == sizeof bytes ? -ENAMETOOLONG : -EFAULT;
    path.assign(bytes, static_cast<std::size_t>(end - bytes));
    return 0;
}

int Caller::open_start(int directory, unique_fd& start) const {
    if (directory == AT_FDCWD) return open_handle(ProcPath(thread_, "cwd"), O_DIRECTORY, start);
    return open_descriptor(directory, start);
}

int Caller::open_descriptor(int number, unique_fd& object) const {
    if (number < 0) return -EBADF;
    const int error = open_handle(ProcPath(thread_, number), 0, object);
    return error == -ENOENT ? -EBADF : error;
}

bool Caller::is_path_only(int number) const {
    int flags = 0;
    parse_field(read_start(ProcPath(thread_, ("fdinfo/" + std::to_string(number)).c_str())), "flags:", 8, flags);
    return (flags & O_PATH) != 0;
}

int Caller::root_mount(std::uint64_t& mount, std::uint64_t& inode) const {
    return mount_of(ProcPath(thread_, "root").c_str(), mount, inode);
}

pid_t Caller::process() const {
    read_status();
    return process_;
}

mode_t Caller::file_mask() const {
    if (!file_mask_) read_status();
    return file_mask_.value_or(0777);
}

int Caller::check_growth(int file, std::int64_t length) const {
    struct stat status {};
    rlimit limit{};
    if (::fstat(file, &status) < 0 || ::prlimit(process(), RLIMIT_FSIZE, nullptr, &limit) < 0) return -errno;
    const bool fits = length <= status.st_size || limit.rlim_cur == RLIM_INFINITY ||
                      static_cast<rlim_t>(length) <= limit.rlim_cur;
    if (fits) return 0;
    sys::raw_syscall(SYS_tkill, thread_, SIGXFSZ);
    return -EFBIG;
}

std::string Caller::program() const {
    std::string name = read_start(ProcPath(process(), "comm"));
    if (name.ends_with('\n')) name.pop_back();
    return name;
}

void Caller::read_status() const {
    if (std::exchange(status_read_, true)) return;
    // The name comes first, with its newlines escaped: no program can forge the lines below it.
    const std::string status = read_start(ProcPath(thread_, "status"));
    mode_t mask = 0777;
    parse_field(status, "\nUmask:", 8, mask);
    if (!file_mask_) file_mask_ = mask;
    parse_field(status, "\nTgid:", 10, process_);
}

int mount_of(const char* path, std::uint64_t& mount, std::uint64_t& inode) {
    struct statx found {};
    if (::statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_INO | STATX_MNT_ID, &found) < 0) return -errno;
    mount = found.stx_mnt_id;
    inode = found.stx_ino;
    return 0;
}

}  // namespace sandpipe::launcher
