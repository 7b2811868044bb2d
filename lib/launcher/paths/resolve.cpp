#include "launcher/paths/resolve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "launcher/kernel/privileges.hpp"
#include "launcher/paths/deep_place.hpp"
#include "launcher/paths/supervised_place.hpp"

namespace sandpipe::launcher {
namespace {

constexpr int kMaxLinks = 40;  // path_resolution(7)

bool is_special(std::string_view name) { return name == "." || name == ".." || name == "/"; }

/// Of an object whose name nobody has said.
std::string place_of_found(const Spot& spot) {
    return spot.kind == Kind::directory ? place_of_directory(spot.object.get()) : place_of(spot.object.get());
}

}  // namespace

std::string join(const std::string& place, const std::string& name) {
    return place == "/" ? place + name : place + '/' + name;
}

struct Resolver::Link {
    unique_fd object;  // what a magic one leads to, which has no text
    std::string text;
};

Site Spot::site() const { return {place, kind, !is_special(name), slashed}; }

int Resolver::start_at(int directory, std::string_view path, unique_fd& start) const {
    if (path.empty()) return -ENOENT;
    // An absolute path needs no start, unless it is restricted to one.
    if (path.front() == '/' && restrictions_ == 0) return 0;
    return caller_.open_start(directory, start);
}

int Resolver::find_entry(int directory, std::string_view path, Spot& spot) {
    unique_fd start;
    const int error = start_at(directory, path, start);
    return error < 0 ? error : find(std::move(start), path, spot);
}

int Resolver::find_target(int directory, std::string_view path, Spot& spot) {
    int error = find_entry(directory, path, spot);
    while (error == 0 && spot.kind == Kind::symlink) {
        error = follow_by_kernel(spot);
        if (error == 0 || restrictions_ != 0) return error;
        error = follow_last(spot);
    }
    return error;
}

std::string Resolver::plain_place(int directory, std::string_view path, bool stays_at_link) const {
    unique_fd start;
    unique_fd object;
    if (start_at(directory, path, start) < 0) return {};
    const int at_link = stays_at_link ? O_NOFOLLOW : 0;
    if (open_plainly(start.get(), std::string(path), at_link, restrictions_, object) < 0) return {};
    std::string place = place_of(object.get());
    return is_below_proc(place) ? std::string() : place;
}

int Resolver::find_descriptor(int number, Spot& spot) {
    int error = caller_.open_start(number, spot.object);
    if (error == 0) error = kind_of(spot.object, spot.kind);
    if (error == 0) spot.place = place_of_found(spot);
    if (is_nameless(spot.object.get(), spot.place)) spot.place.clear();
    return error;
}

int Resolver::find(unique_fd start, std::string_view path, Spot& spot) {
    const SplitPath parts = split_path(path);
    std::string above;
    spot = Spot{};
    int error = walk(std::move(start), parts.directory, spot.directory, above);
    if (error < 0) return error;
    spot.name = parts.name;
    spot.slashed = parts.slashed;
    error = open_plainly(spot.directory.get(), spot.name, O_NOFOLLOW, restrictions_, spot.object);
    if (error < 0 && error != -ENOENT) return error;
    if (spot.object) error = kind_of(spot.object, spot.kind);
    spot.place = is_special(spot.name) ? place_of(spot.object.get()) : join(above, spot.name);
    return spot.object ? error : 0;
}

/// To the directory `path`, and what its place is called.
int Resolver::walk(unique_fd start, std::string_view path, unique_fd& end, std::string& place) {
    int error = 0;
    if (path.empty())
        end = std::move(start);
    else
        error = open_plainly(start.get(), std::string(path), O_DIRECTORY, restrictions_, end);
    if (error == 0) place = place_of_directory(end.get());
    // Whatever may have led through /proc/self is walked again, with the caller's.
    const bool by_hand = restrictions_ == 0 && !path.empty() && (error < 0 || is_below_proc(place));
    if (by_hand) {
        error = walk_by_hand(std::move(start), std::string(path), end);
        if (error == 0) place = place_of_directory(end.get());
    }
    if (error < 0 || !place.empty()) return error;
    // The kernel makes nothing in a removed directory either.
    struct stat status {};
    return ::fstat(end.get(), &status) == 0 && status.st_nlink > 0 ? -ENAMETOOLONG : -ENOENT;
}

int Resolver::walk_by_hand(unique_fd start, std::string rest, unique_fd& end) {
    int error = 0;
    end = std::move(start);
    if (rest.front() == '/') error = open_handle(AT_FDCWD, "/", O_DIRECTORY, end);
    while (error == 0) {
        const std::string name = take_component(rest);
        if (name.empty()) break;
        error = step(end, name, rest);
    }
    Kind kind = Kind::missing;
    if (error == 0) error = kind_of(end, kind);
    if (error < 0) return error;
    return kind == Kind::directory ? 0 : -ENOTDIR;
}

namespace {

/// Behind what cannot be entered, names mean what they say, as far as they do not lead back.
std::string deepest(const std::string& above, const std::string& name, std::string rest) {
    std::string place = is_special(name) ? above : join(above, name);
    for (std::string next = take_component(rest); !next.empty() && !is_special(next); next = take_component(rest))
        place = join(place, next);
    return place;
}

}  // namespace

std::string Resolver::blocked_place(int directory, std::string_view path) {
    unique_fd here;
    std::string rest(path);
    int error = start_at(directory, path, here);
    if (error == 0 && rest.front() == '/') error = open_handle(AT_FDCWD, "/", O_DIRECTORY, here);
    while (error == 0) {
        const std::string name = take_component(rest);
        if (name.empty()) break;
        const std::string above = place_of(here.get());
        error = step(here, name, rest);
        if (error == -EACCES && pass_link(here, name, rest)) error = 0;
        if (error == -EACCES && !above.empty()) return deepest(above, name, std::move(rest));
        if (error < 0 && !above.empty() && !is_special(name)) return join(above, name);
    }
    return {};
}

/// A link cannot be followed to where nobody may look. What it says is told all the same.
bool Resolver::pass_link(unique_fd& here, const std::string& name, std::string& rest) {
    unique_fd link;
    std::string text;
    if (open_handle(here.get(), name.c_str(), O_NOFOLLOW, link) < 0 || is_procfs(link.get())) return false;
    if (links_ > kMaxLinks || read_link_text(link.get(), text) < 0) return false;
    rest.insert(0, text + '/');
    return !text.starts_with('/') || open_handle(AT_FDCWD, "/", O_DIRECTORY, here) == 0;
}

int Resolver::step(unique_fd& here, const std::string& name, std::string& rest) {
    unique_fd next;
    Kind kind = Kind::missing;
    int error = open_handle(here.get(), name.c_str(), O_NOFOLLOW, next);
    if (error == 0) error = kind_of(next, kind);
    if (error < 0) return error;
    Link link;
    if (kind == Kind::symlink) {
        error = read_link(here.get(), name, next.get(), link);
        if (error < 0) return error;
        if (link.object)
            next = std::move(link.object);
        else if (link.text.starts_with('/'))
            error = open_handle(AT_FDCWD, "/", O_DIRECTORY, next);
        else
            next = std::move(here);
        rest.insert(0, link.text + '/');
    }
    here = std::move(next);
    return error;
}

int Resolver::follow_by_kernel(Spot& spot) const {
    unique_fd target;
    int error = open_plainly(spot.directory.get(), spot.last(), 0, restrictions_, target);
    if (error < 0) return error;
    std::string place = place_of(target.get());
    if (is_below_proc(place)) return -ELOOP;
    // Link by link it can be told.
    if (place.empty() && restrictions_ == 0 && has_too_long_name(target.get())) return -ELOOP;
    spot.object = std::move(target);
    spot.place = std::move(place);
    return kind_of(spot.object, spot.kind);
}

/// Goes on from a final link to what its text says, or to the object of a magic one.
int Resolver::follow_last(Spot& spot) {
    Link link;
    int error = read_link(spot.directory.get(), spot.name, spot.object.get(), link);
    if (error < 0) return error;
    if (!link.object) {
        if (spot.slashed) link.text += '/';
        unique_fd start = std::move(spot.directory);
        return find(std::move(start), link.text, spot);
    }
    spot.object = std::move(link.object);
    error = kind_of(spot.object, spot.kind);
    if (error < 0) return error;
    spot.directory.reset();
    spot.place = place_of_found(spot);
    return 0;
}

int Resolver::read_link(int directory, const std::string& name, int link, Link& found) {
    if (++links_ > kMaxLinks) return -ELOOP;
    unique_fd target;
    const int reached = open_plainly(directory, name, 0, 0, target);
    // protected_symlinks in proc(5): the kernel does not follow just any link in /tmp.
    if (reached == -EACCES) return reached;
    if (!is_procfs(link)) return read_link_text(link, found.text);
    const std::string above = place_of(directory);
    if (reached == -ELOOP) return follow_magic(directory, name, above, found.object);
    found.text = above == "/proc" ? own_link_text(name) : std::string();
    return found.text.empty() ? read_link_text(link, found.text) : 0;
}

/// This process, and those that share its descriptors to wait for it (BlockingCalls), can be seen by the caller and are
/// not for it. What it may follow of others the kernel says: with its rights, for which those of its user are enough.
int Resolver::follow_magic(int directory, const std::string& name, const std::string& above, unique_fd& object) const {
    const auto is_in = [&](pid_t pid) { return wire::holds("/proc/" + std::to_string(pid), above); };
    if (is_in(::getpid())) return -EACCES;
    // A process may always look at itself.
    if (is_in(caller_.process()) || is_in(caller_.thread())) return open_handle(directory, name.c_str(), 0, object);
    const WithoutCapabilities as_caller;
    return as_caller ? open_handle(directory, name.c_str(), 0, object) : -EACCES;
}

std::string Resolver::own_link_text(std::string_view name) const {
    const std::string process = std::to_string(caller_.process());
    if (name == "self") return process;
    if (name == "thread-self") return process + "/task/" + std::to_string(caller_.thread());
    return {};
}

bool brings_along(const Spot& spot, std::string_view tail) {
    unique_fd here;
    std::string rest(tail);
    int error = open_handle(spot.directory.get(), spot.name.c_str(), O_NOFOLLOW, here);
    while (error == 0) {
        const std::string name = take_component(rest);
        if (name.empty()) return true;
        unique_fd next;
        Kind kind = Kind::missing;
        error = open_handle(here.get(), name.c_str(), O_NOFOLLOW, next);
        if (error == 0) error = kind_of(next, kind);
        if (error == 0 && kind == Kind::symlink) return true;
        here = std::move(next);
    }
    return error != -ENOENT && error != -ENOTDIR;
}

}  // namespace sandpipe::launcher
