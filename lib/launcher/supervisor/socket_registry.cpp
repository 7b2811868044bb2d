#include "launcher/supervisor/socket_registry.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace sandpipe::launcher {
namespace {

constexpr std::size_t kMostSockets = 4096;  // of a session at one time

struct Entry {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t owner = 0;  // 0: a free place
};

std::vector<Entry> read_all(int file) {
    std::vector<Entry> entries(kMostSockets);
    const ssize_t bytes = ::pread(file, entries.data(), entries.size() * sizeof(Entry), 0);
    entries.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes) / sizeof(Entry));
    return entries;
}

bool write_one(int file, std::size_t index, const Entry& entry) {
    return ::pwrite(file, &entry, sizeof entry, static_cast<off_t>(index * sizeof entry)) == sizeof entry;
}

}  // namespace

int SocketRegistry::add(unique_fd socket) {
    struct stat made {};
    if (::fstat(socket.get(), &made) < 0) return -errno;
    std::size_t place = 0;
    if (own_.size() >= look_at_) forget_nameless();
    int error = find_place(place);
    if (error == -ENOBUFS) {
        forget_nameless();
        error = find_place(place);
    }
    if (error < 0) return error;
    if (!write_one(file_, place, {made.st_dev, made.st_ino, owner_})) return -ENOBUFS;
    own_.push_back({std::move(socket), place});
    return 0;
}

int SocketRegistry::find_place(std::size_t& place) {
    const std::vector<Entry> entries = read_all(file_);
    place = 0;
    while (place < entries.size() && entries[place].owner != 0) ++place;
    return place == kMostSockets ? -ENOBUFS : 0;
}

void SocketRegistry::forget_nameless() {
    std::erase_if(own_, [this](const Own& own) {
        struct stat status {};
        const bool named = ::fstat(own.socket.get(), &status) < 0 || status.st_nlink > 0;
        return !named && write_one(file_, own.place, {});
    });
    look_at_ = std::max(kFewSockets, 2 * own_.size());
}

bool SocketRegistry::contains(int socket) const {
    struct stat found {};
    if (::fstat(socket, &found) < 0) return false;
    for (const Entry& entry : read_all(file_))
        if (entry.owner != 0 && entry.device == found.st_dev && entry.inode == found.st_ino) return true;
    return false;
}

void SocketRegistry::forget_own() {
    forget(file_, owner_);
    own_.clear();
    look_at_ = kFewSockets;
}

void SocketRegistry::forget(int file, std::int64_t owner) {
    const std::vector<Entry> entries = read_all(file);
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i].owner == owner) (void)write_one(file, i, {});  // what cannot be read back is not found either
}

}  // namespace sandpipe::launcher
