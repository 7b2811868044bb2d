#include "launcher/supervisor/taken_back.hpp"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2 is GNU's
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/paths/deep_place.hpp"
#include "launcher/paths/supervised_place.hpp"
#include "launcher/paths/tree_search.hpp"

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kLongestStem = 200;  // of a name, whose end is added
constexpr int kOtherNames = 4;
constexpr int kMostLevels = 64;
constexpr int kMostPlacesAbove = 4;
// Something may come to the old name, too.
constexpr unsigned kAlsoFrom = RENAME_EXCHANGE | RENAME_WHITEOUT;

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

std::uint64_t mount_of(const unique_fd& object) {
    struct statx found {};
    return ::statx(object.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &found) < 0 ? 0 : found.stx_mnt_id;
}

/// Whether names can be made in it, maybe once it is open for that.
bool is_usable(const unique_fd& directory) {
    struct stat status {};
    return ::fstat(directory.get(), &status) == 0 &&
           (status.st_uid == ::geteuid() || ::faccessat(directory.get(), ".", W_OK | X_OK, AT_EACCESS) == 0);
}

int rename_between(const Spot& from, const Spot& to, const std::string& name, unsigned flags) {
    return act_in(from.directory, [&] {
        return act_in(to.directory, [&] {
            return result_of(
                ::renameat2(from.directory.get(), from.name.c_str(), to.directory.get(), name.c_str(), flags));
        });
    });
}

Spot entry_of(const unique_fd& directory, std::string name, const std::string& place) {
    Spot entry;
    entry.directory = unique_fd(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 3));
    entry.name = std::move(name);
    entry.place = place;
    return entry;
}

/// What cannot be looked at may be anything, as a directory may.
Kind kind_now(const Spot& spot) {
    unique_fd object;
    Kind kind = Kind::missing;
    const int error = open_handle(spot.directory.get(), spot.name.c_str(), O_NOFOLLOW, object);
    if (error == -ENOENT) return Kind::missing;
    return error == 0 && kind_of(object, kind) == 0 ? kind : Kind::directory;
}

/// Of what stands at `entry`, if it came to `place`.
Judgement judge_at(const wire::AccessRules& rules, const Spot& entry, std::string_view from, const std::string& place) {
    const Kind kind = kind_now(entry);
    if (kind == Kind::missing) return {Decision::perform, 0, {}};
    if (place.empty()) return {Decision::refuse, ENAMETOOLONG, {}};
    const Load load{[&](std::string_view tail) { return brings_along(entry, tail); },
                    [&](const auto& rule, std::string_view to) { return brings_match(rules, entry, rule, to); },
                    from};
    return judge_arrival(rules, Site{place, kind}, kind, load);
}

/// Takes something away from where it may not stand. To look at a large directory takes a while, in which the whole
/// session waits: so each place is judged once, and of those above only such where that can do.
class Retreat {
  public:
    Retreat(const wire::AccessRules& rules, const Spot& at, std::string_view from)
        : rules_(rules), from_(from), name_(at.name), here_(entry_of(at.directory, at.name, at.place)) {}

    /// To `back`, if possible: to that very name at best.
    [[nodiscard]] bool run(const Spot* back) {
        if (is_well()) return true;
        if (back && settles_at(entry_of(back->directory, back->name, back->place), RENAME_NOREPLACE)) return true;
        for (int i = 0; i < kOtherNames; ++i) {
            if (back && settles_at(fresh_name(back->directory, back->name))) return true;
            if (settles_at(fresh_name(here_.directory, name_))) return true;
            // Its own name may be what is denied.
            if (settles_above(i == 0 ? name_ : std::string()) || is_well()) return true;
        }
        return false;
    }

  private:
    [[nodiscard]] bool is_well() const {
        std::string place;
        return judge_arrived(rules_, here_, from_, place).decision == Decision::perform;
    }
    static Spot fresh_name(const unique_fd& directory, const std::string& name) {
        return entry_of(directory, other_name(name), {});
    }
    /// Not every file system knows of flags.
    bool settles_at(Spot next, unsigned flags = 0) {
        if (!next.directory || next.name.empty()) return false;
        if (judge_at(rules_, here_, from_, place_now(next)).decision != Decision::perform) return false;
        if (rename_between(here_, next, next.name, flags) < 0) return false;
        here_ = std::move(next);
        return is_well();
    }
    /// Out of whatever is denied as a whole, or of what a name of any kind may not stand in. The further up, the fewer
    /// of the names above it are denied.
    bool settles_above(const std::string& name) {
        std::vector<Spot> places;
        const std::uint64_t mount = mount_of(here_.directory);
        unique_fd above = std::move(entry_of(here_.directory, {}, {}).directory);
        for (int i = 0; i < kMostLevels && open_handle(above.get(), "..", O_DIRECTORY, above) == 0; ++i) {
            if (mount_of(above) != mount) break;
            Spot place = fresh_name(above, name);
            if (is_usable(above) && may_hold(place_now(place))) places.push_back(std::move(place));
        }
        int tries = 0;
        for (auto next = places.rbegin(); next != places.rend() && tries < kMostPlacesAbove; ++next, ++tries)
            if (settles_at(std::move(*next))) return true;
        return false;
    }
    /// Whether something of a kind that brings nothing along may stand there.
    [[nodiscard]] bool may_hold(const std::string& place) const {
        const Judgement judgement = judge_arrival(rules_, Site{place, Kind::missing}, Kind::file, {});
        return !place.empty() && judgement.decision == Decision::perform;
    }

    const wire::AccessRules& rules_;
    std::string_view from_;
    std::string name_;
    Spot here_;
};

/// Where it came from, unless that is another place by now: then nothing can be told of it.
std::string_view unchanged_place(const Spot& spot, const std::string& now) {
    return now == spot.place ? std::string_view(spot.place) : std::string_view();
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

Judgement judge_arrived(const wire::AccessRules& rules, const Spot& spot, std::string_view from, std::string& place) {
    place = place_now(spot);
    return judge_at(rules, spot, from, place);
}

bool take_away(const wire::AccessRules& rules, const Spot& spot, const Identity& made) {
    struct stat found {};
    const int directory = spot.directory.get();
    if (::fstatat(directory, spot.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) < 0) return errno == ENOENT;
    // What stands there by now is somebody else's, who answers for it.
    if (made != Identity{found.st_dev, found.st_ino}) return true;
    const int flags = S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0;
    const int error =
        act_in(spot.directory, [&] { return result_of(::unlinkat(directory, spot.name.c_str(), flags)); });
    return error == 0 || error == -ENOENT || Retreat(rules, spot, {}).run(nullptr);
}

Judgement judge_again(const wire::AccessRules& rules, const Spot& spot, Kind made, const Identity& identity,
                      std::string& place) {
    place = place_now(spot);
    if (place == spot.place) return {Decision::perform, 0, {}};
    Judgement again = place.empty() ? Judgement{Decision::refuse, ENAMETOOLONG, {}}
                                    : judge_make(rules, made, Site{place, Kind::missing});
    if (again.decision != Decision::perform && !take_away(rules, spot, identity)) again.rule += kStays;
    return again;
}

Arrivals judge_arrivals(const wire::AccessRules& rules, const Spot& from, const Spot& to, unsigned flags) {
    Arrivals found;
    found.from_place = place_now(from);
    found.judgement = judge_arrived(rules, to, unchanged_place(from, found.from_place), found.to_place);
    if (found.judgement.decision != Decision::perform || !(flags & kAlsoFrom)) return found;
    const std::string_view came_from = unchanged_place(to, found.to_place);
    found.judgement = judge_arrived(rules, from, came_from, found.from_place);
    return found;
}

bool move_back(const wire::AccessRules& rules, const Spot& from, const Spot& to, unsigned flags) {
    const std::string from_now = place_now(from);
    const std::string to_now = place_now(to);
    std::string_view at_to = unchanged_place(from, from_now);
    std::string_view at_from = unchanged_place(to, to_now);
    if ((flags & RENAME_EXCHANGE) && rename_between(to, from, from.name, RENAME_EXCHANGE) == 0)
        std::swap(at_to, at_from);
    const bool first = Retreat(rules, to, at_to).run(&from);
    return (!(flags & kAlsoFrom) || Retreat(rules, from, at_from).run(&to)) && first;
}

}  // namespace sandpipe::launcher
