#include "sandbox/network/connection_share.hpp"

#include <sys/resource.h>

#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace sandpipe {
namespace {

using Lock = std::unique_lock<std::mutex>;

/// What the parts of all sessions have in common, whichever Runtimes they belong to: descriptors are the process's.
struct Shares {
    std::mutex mutex;
    std::size_t total = 0;
    std::set<ConnectionShare*> open;
};

Shares& shares() {
    static Shares* const all = new Shares;  // as long as any thread may want it
    return *all;
}

/// Each connection takes two descriptors. The limit is that of now: the host may change it.
std::size_t budget() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<std::size_t>(limit.rlim_cur / 8) * 3;
}

}  // namespace

ConnectionShare::ConnectionShare(std::size_t most, std::function<void()> room) : most_(most), room_(std::move(room)) {
    const Lock lock(shares().mutex);
    shares().open.insert(this);
}

ConnectionShare::~ConnectionShare() {
    {
        const Lock lock(shares().mutex);
        shares().open.erase(this);
        shares().total -= own_;
    }
    tell_others();
}

bool ConnectionShare::has_room() {
    const Lock lock(shares().mutex);
    lacks_room_ = own_ >= most_ || !leaves_enough(own_, shares().total, budget());
    return !lacks_room_;
}

void ConnectionShare::take() {
    const Lock lock(shares().mutex);
    ++own_;
    ++shares().total;
}

void ConnectionShare::give_back() {
    {
        const Lock lock(shares().mutex);
        --own_;
        --shares().total;
    }
    tell_others();
}

/// Without the lock, because they have locks of their own.
void ConnectionShare::tell_others() {
    std::vector<std::function<void()>> rooms;
    {
        const Lock lock(shares().mutex);
        for (ConnectionShare* share : shares().open)
            if (share != this && std::exchange(share->lacks_room_, false)) rooms.push_back(share->room_);
    }
    for (const auto& room : rooms) room();
}

}  // namespace sandpipe
