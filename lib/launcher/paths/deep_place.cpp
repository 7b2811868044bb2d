#include "launcher/paths/deep_place.hpp"

#include <fcntl.h>
#include <sandpipe/unique_fd.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "launcher/paths/supervised_place.hpp"
#include "sys/directory.hpp"

namespace sandpipe::launcher {
namespace {

// Each is an entry that is looked at, or a directory that is opened.
constexpr int kMostSteps = 20'000;

class Climb {
  public:
    std::string place_of(int directory) {
        unique_fd here;
        if (open_handle(directory, ".", O_DIRECTORY, here) < 0) return {};
        std::string tail;
        while (steps_ < kMostSteps) {
            unique_fd above;
            ++steps_;
            if (open_handle(here.get(), "..", O_DIRECTORY, above) < 0) return {};
            const std::string name = name_in(above.get(), here.get());
            if (name.empty()) return {};
            tail.insert(0, "/" + name);
            std::string place = launcher::place_of(above.get());
            if (!place.empty()) return place == "/" ? tail : place + tail;
            here = std::move(above);
        }
        return {};
    }

  private:
    std::string name_in(int above, int directory) {
        struct stat wanted {};
        const int fd = ::openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const sys::Directory entries(fd < 0 ? nullptr : ::fdopendir(fd));
        if (fd >= 0 && !entries) ::close(fd);
        if (!entries || ::fstat(directory, &wanted) < 0) return {};
        while (const dirent* entry = ::readdir(entries.get())) {
            const std::string_view name = entry->d_name;
            if (++steps_ > kMostSteps) return {};
            struct stat found {};
            if (name == "." || name == ".." || ::fstatat(above, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) < 0)
                continue;
            if (found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino) return std::string(name);
        }
        return {};
    }

    int steps_ = 0;
};

bool is_linked(int directory) {
    struct stat status {};
    return ::fstat(directory, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

std::string place_of_directory(int directory) {
    std::string place = place_of(directory);
    return place.empty() && is_linked(directory) ? Climb().place_of(directory) : place;
}

}  // namespace sandpipe::launcher
