#pragma once

#include <sandpipe/unique_fd.hpp>

#include <system_error>

namespace sandpipe::detail {

/// Gives a descriptor to an I/O object of Asio. On an error (epoll_ctl(2): ENOSPC, ENOMEM) it is closed, unlike by the
/// constructor that takes it, which throws and leaves it open.
template <typename Object>
[[nodiscard]] std::error_code adopt(Object& object, unique_fd& fd) {
    std::error_code error;
    object.assign(fd.get(), error);
    if (error)
        fd.reset();
    else
        static_cast<void>(fd.release());
    return error;
}

}  // namespace sandpipe::detail
