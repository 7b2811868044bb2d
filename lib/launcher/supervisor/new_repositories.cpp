#include "launcher/supervisor/new_repositories.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/paths/supervised_place.hpp"
#include "launcher/supervisor/initial_settings.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMostSettings = 64 * 1024;
// No command of any session may open a file of this name for writing, as it may any other here; and git does not look
// at it by itself.
constexpr const char* kProtectedName = "config.worktree";
constexpr std::size_t kMostRepositories = 64;  // of one command at one time

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
    const unique_fd file(::open(OwnDescriptor(object).path(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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

/// Where nothing stood. No O_TMPFILE, which not every file system has.
int make_file(int directory, const char* name, std::string_view text, mode_t mode) {
    const unique_fd file(::openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    if (!file) return -errno;
    if (const int error = sys::write_all(file.get(), text); error < 0) return error;
    return ::fchmod(file.get(), mode) < 0 ? -errno : 0;
}

}  // namespace

NewRepositories::Part NewRepositories::part_of(const Spot& spot, const Caller& caller) const {
    for (const Made& made : made_) {
        if (made.process != caller.process()) continue;
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

bool NewRepositories::is_initial(const Call& call, const Caller& caller, const Spot& spot) const {
    if (!rules_.writes_on_behalf()) return false;
    const Act act = call.row->act;
    const bool is_directory = spot.kind == Kind::directory;
    if (rules_.new_repository(spot.place)) {
        // Read before the act, whose caller is known to wait until it is carried out; note_directory comes after it.
        (void)caller.process();
        if (act == Act::make_directory) return spot.kind == Kind::missing;
        const bool changes = act == Act::change_mode || act == Act::set_attribute || act == Act::change;
        return is_directory && (changes || act == Act::remove || act == Act::open);
    }
    const Part part = part_of(spot, caller);
    if (part == Part::none) return false;
    // A failed clone takes back what it has made.
    if (act == Act::remove) return true;
    // git finds out by that whether the file system keeps modes.
    if (act == Act::change_mode) return true;
    if (act == Act::make_directory) return part == Part::hooks;
    return act == Act::open && part == Part::sample && spot.kind == Kind::missing;
}

bool NewRepositories::brings_settings(const Call& call, const Caller& caller, const Spot& from, const Spot& to,
                                      std::string& settings) const {
    if (!rules_.writes_on_behalf() || call.flags != 0 || part_of(to, caller) != Part::settings) return false;
    const bool are_files = from.kind == Kind::file && (to.kind == Kind::missing || to.kind == Kind::file);
    const bool is_locked =
        from.place == to.place + ".lock" && leads_to(from.directory.get(), ".", to.directory.get());
    return are_files && is_locked && read_all(from.object.get(), settings) && are_initial_settings(settings);
}

void NewRepositories::note_directory(const Spot& spot, const Caller& caller) {
    if (!rules_.new_repository(spot.place)) return;
    Made made{spot.place, {}, caller.process()};
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
    int error = make_file(directory, kProtectedName, settings, before.st_mode & 0777);
    if (error == -EEXIST) return error;
    if (error == 0 && ::renameat(directory, kProtectedName, directory, to.name.c_str()) < 0) error = -errno;
    if (error < 0) ::unlinkat(directory, kProtectedName, 0);
    if (error == 0 && ::unlinkat(directory, from.name.c_str(), 0) < 0) error = -errno;
    return error;
}

}  // namespace sandpipe::launcher
