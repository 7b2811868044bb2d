#pragma once

#include <sandpipe/unique_fd.hpp>

#include <system_error>

#include "process/shortage.hpp"

namespace sandpipe::detail {

/// Gives a descriptor to an I/O object of Asio. On an error (epoll_ctl(2): ENOSPC, ENOMEM) the caller still has it,
/// unlike with the constructor that takes it, which throws and leaves it to nobody. Sockets need their protocol, too.
template <typename Object, typename... Protocol>
[[nodiscard]] std::error_code adopt(Object& object, unique_fd& fd, const Protocol&... protocol) {
    std::error_code error;
    object.assign(protocol..., fd.get(), error);
    if (!error) static_cast<void>(fd.release());
    return error;
}

/// The same, for whom only an exception can tell. Throws Shortage.
template <typename Object, typename... Protocol>
void adopt_or_throw(Object& object, unique_fd& fd, const Protocol&... protocol) {
    if (const std::error_code error = adopt(object, fd, protocol...))
        throw Shortage(error.value(), "epoll takes no more descriptors: " + error.message() +
                                          " (see /proc/sys/fs/epoll/max_user_watches)");
}

}  // namespace sandpipe::detail
