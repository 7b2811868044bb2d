#pragma once

#include <sandpipe/unique_fd.hpp>

#include <system_error>

#include "process/shortage.hpp"

namespace sandpipe::detail {

/// Gives a descriptor to an I/O object of Asio. On an error (epoll_ctl(2): ENOSPC, ENOMEM) the caller still has it,
/// unlike with the constructor that takes it, which throws and leaves it to nobody.
template <typename Object>
[[nodiscard]] std::error_code adopt(Object& object, unique_fd& fd) {
    std::error_code error;
    object.assign(fd.get(), error);
    if (!error) static_cast<void>(fd.release());
    return error;
}

/// The same, for whom only an exception can tell. Throws Shortage.
template <typename Object>
void adopt_or_throw(Object& object, unique_fd& fd) {
    if (const std::error_code error = adopt(object, fd))
        throw Shortage(error.value(), "epoll takes no more descriptors: " + error.message() +
                                          " (see /proc/sys/fs/epoll/max_user_watches)");
}

}  // namespace sandpipe::detail
