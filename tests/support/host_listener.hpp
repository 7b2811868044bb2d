#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sandpipe/unique_fd.hpp>

#include <cstring>
#include <filesystem>
#include <string>

namespace sandpipe::testing {

/// A socket of the host that listens at a path.
class HostListener {
  public:
    explicit HostListener(const std::string& path, int type = SOCK_STREAM)
        : socket_(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        EXPECT_LT(path.size(), sizeof address.sun_path);
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << path;
        EXPECT_EQ(::listen(socket_.get(), 64), 0);
        std::filesystem::permissions(path, std::filesystem::perms::all);
    }
    /// How many have connected since the last time.
    [[nodiscard]] int visitors() const {
        int count = 0;
        while (unique_fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC))) ++count;
        return count;
    }

  private:
    unique_fd socket_;
};

}  // namespace sandpipe::testing
