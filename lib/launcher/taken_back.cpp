#include "launcher/taken_back.hpp"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2 is GNU's
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "launcher/deep_place.hpp"
#include "launcher/own_descriptor.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kLongestStem = 200;  // of a name, whose end is added
constexpr int kOtherNames = 4;

int result_of(int value) { return value < 0 ? -errno : 0; }

/// One that nobody can have taken before: which is why it is not just numbered.
std::string other_name(const std::string& name) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) return {};
    char end[32];
    std::snprintf(end, sizeof end, ".denied-%016llx", static_cast<unsigned long long>(number));
    return name.substr(0, kLongestStem) + end;
}

/// `act`, and once more if its directory has been closed for writing; then it is open for so long.
template <typename Act>
int act_in(const unique_fd& directory, const Act& act) {
    const int error = act();
    struct stat status {};
    if (error != -EACCES || ::fstat(directory.get(), &status) < 0) return error;
    const OwnDescriptor path(directory.get());
    const mode_t mode = status.st_mode & 07777;
    if (::chmod(path.path(), mode | S_IWUSR | S_IXUSR) < 0) return error;
    const int second = act();
    return ::chmod(path.path(), mode) < 0 && second == 0 ? -errno : second;
}

int rename_between(const Spot& from, const Spot& to, const std::string& name, unsigned flags) {
    return act_in(from.directory, [&] {
        return act_in(to.directory, [&] {
            return result_of(
                ::renameat2(from.directory.get(), from.name.c_str(), to.directory.get(), name.c_str(), flags));
        });
    });
}

/// To another name in the directory of `to`, which may be its own.
bool put_aside(const Spot& entry, const Spot& to) {
    for (int i = 0; i < kOtherNames; ++i) {
        const std::string name = other_name(to.name);
        if (!name.empty() && rename_between(entry, to, name, 0) == 0) return true;
    }
    return false;
}

bool stands_at(const Spot& spot, const unique_fd& object) {
    return object && identity_of(spot) == identity_of(object.get());
}

/// Each at the place of the other; where they cannot change back, neither stays there.
bool exchange_back(const Spot& from, const Spot& to) {
    if (rename_between(to, from, from.name, RENAME_EXCHANGE) == 0) return true;
    const bool first = !stands_at(to, from.object) || put_aside(to, to);
    const bool second = !stands_at(from, to.object) || put_aside(from, from);
    return first && second;
}

}  // namespace

std::string place_now(const Spot& spot) {
    struct stat status {};
    if (!spot.directory || ::fstat(spot.directory.get(), &status) < 0 || status.st_nlink == 0) return spot.place;
    const std::string above = place_of_directory(spot.directory.get());
    return above.empty() ? above : join(above, spot.name);
}

Identity identity_of(const Spot& spot) {
    struct stat found {};
    if (::fstatat(spot.directory.get(), spot.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) < 0) return {};
    return {found.st_dev, found.st_ino};
}

Identity identity_of(int object) {
    struct stat found {};
    if (::fstat(object, &found) < 0) return {};
    return {found.st_dev, found.st_ino};
}

bool take_away(const Spot& spot, const Identity& made) {
    struct stat found {};
    const int directory = spot.directory.get();
    if (::fstatat(directory, spot.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT;
    // What stands there by now is somebody else's, who answers for it.
    if (made != Identity{found.st_dev, found.st_ino}) return true;
    const int flags = S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0;
    const int error =
        act_in(spot.directory, [&] { return result_of(::unlinkat(directory, spot.name.c_str(), flags)); });
    return error == 0 || error == -ENOENT || put_aside(spot, spot);
}

Judgement judge_again(const wire::AccessRules& rules, const Spot& spot, Kind made, const Identity& identity,
                      std::string& place) {
    place = place_now(spot);
    if (place == spot.place) return {Decision::perform, 0, {}};
    Judgement again = place.empty() ? Judgement{Decision::refuse, ENAMETOOLONG, {}}
                                    : judge_make(rules, made, Site{place, Kind::missing});
    if (again.decision != Decision::perform && !take_away(spot, identity)) again.rule += kStays;
    return again;
}

bool move_back(const Spot& from, const Spot& to, unsigned flags) {
    if (flags & RENAME_EXCHANGE) return exchange_back(from, to);
    if (!stands_at(to, from.object)) return true;  // moved on, by somebody else, who answers for it
    return rename_between(to, from, from.name, RENAME_NOREPLACE) == 0 || put_aside(to, from) || put_aside(to, to);
}

}  // namespace sandpipe::launcher
