#include "new_repositories.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "launcher/initial_settings.hpp"
#include "launcher/supervised_place.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMostSettings = 64 * 1024;
constexpr std::size_t kMostRepositories = 64;  // of one command at one time

std::string path_of(int object) { return "/proc/self/fd/" + std::to_string(object); }

/// `path` from `from` is the very directory `directory`.
bool leads_to(int from, const char* path, int directory) {
    struct stat found {};
    struct stat wanted {};
    return ::fstatat(from, path, &found, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(directory, &wanted) == 0 &&
           found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino;
}

bool is_sample(std::string_view name) {
    constexpr std::string_view kEnd = ".sample";
    return name.size() > kEnd.size() && name.ends_with(kEnd);
}

/// False if there is more than settings have.
bool read_all(int object, std::string& text) {
    const unique_fd file(::open(path_of(object).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    text.resize(kMostSettings + 1);
    std::size_t size = 0;
    while (file && size < text.size()) {
        const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
        if (got < 0) return false;
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return file && size <= kMostSettings;
}

}  // namespace

NewRepositories::Part NewRepositories::part_of(const Spot& spot, pid_t process) const {
    for (const Made& made : made_) {
        if (made.process != process) continue;
        const std::string_view tail = wire::relative_to(made.place, spot.place);
        const int above = spot.directory.get();
        if (tail == "hooks" && leads_to(above, ".", made.directory.get())) return Part::hooks;
        if (tail == "config" && leads_to(above, ".", made.directory.get())) return Part::settings;
        const bool in_hooks = wire::relative_to("hooks", tail) == spot.name;
        if (in_hooks && is_sample(spot.name) && leads_to(above, "..", made.directory.get()))
            return Part::sample;
    }
    return Part::none;
}

bool NewRepositories::is_initial(const Call& call, pid_t process, const Spot& spot) const {
    if (!rules_.writes_on_behalf()) return false;
    const Act act = call.row->act;
    const bool is_directory = spot.kind == Kind::directory;
    if (rules_.new_repository(spot.place)) {
        if (act == Act::make_directory) return spot.kind == Kind::missing;
        return is_directory && (act == Act::change_mode || act == Act::change || act == Act::remove || act == Act::open);
    }
    const Part part = part_of(spot, process);
    if (part == Part::none) return false;
    // A failed clone takes back what it has made.
    if (act == Act::remove) return true;
    // git finds out by that whether the file system keeps modes.
    if (act == Act::change_mode) return true;
    if (act == Act::make_directory) return part == Part::hooks;
    return act == Act::open && part == Part::sample && spot.kind == Kind::missing;
}

bool NewRepositories::brings_settings(const Call& call, pid_t process, const Spot& from, const Spot& to,
                                      std::string& settings) const {
    if (!rules_.writes_on_behalf() || call.flags != 0 || part_of(to, process) != Part::settings) return false;
    const bool are_files = from.kind == Kind::file && (to.kind == Kind::missing || to.kind == Kind::file);
    const bool is_locked =
        from.place == to.place + ".lock" && leads_to(from.directory.get(), ".", to.directory.get());
    return are_files && is_locked && read_all(from.object.get(), settings) && are_initial_settings(settings);
}

void NewRepositories::note_directory(const Spot& spot, pid_t process) {
    if (!rules_.new_repository(spot.place)) return;
    Made made{spot.place, {}, process};
    const int error =
        open_handle(spot.directory.get(), spot.name.c_str(), O_NOFOLLOW | O_DIRECTORY, made.directory);
    std::erase_if(made_, [&](const Made& other) { return other.place == spot.place; });
    // Without it, it is a repository as any other.
    if (error == 0 && made_.size() < kMostRepositories) made_.push_back(std::move(made));
}

int put_settings(const std::string& settings, const Spot& from, const Spot& to) {
    struct stat before {};
    if (::fstat(from.object.get(), &before) < 0) return -errno;
    const int directory = to.directory.get();
    const unique_fd file(::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (!file) return -errno;
    if (const int error = sys::write_all(file.get(), settings); error < 0) return error;
    if (::fchmod(file.get(), before.st_mode & 0777) < 0) return -errno;
    const char* lock = from.name.c_str();
    if (::unlinkat(directory, lock, 0) < 0) return -errno;
    if (::linkat(AT_FDCWD, path_of(file.get()).c_str(), directory, lock, AT_SYMLINK_FOLLOW) < 0) return -errno;
    return ::renameat(directory, lock, directory, to.name.c_str()) < 0 ? -errno : 0;
}

}  // namespace sandpipe::launcher
