#include "launcher/supervisor/bound_inode.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sandpipe/unique_fd.hpp>

#include <cstring>
#include <filesystem>

#include "support/temp_tree.hpp"

namespace sandpipe::launcher {
namespace {

namespace fs = std::filesystem;

class BoundInode : public ::testing::Test {
  protected:
    static unique_fd make_socket() { return unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
    unique_fd bound(const char* name) {
        unique_fd socket = make_socket();
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, (top_ / name).c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        return socket;
    }
    unique_fd handle(const char* name) { return unique_fd(::open((top_ / name).c_str(), O_PATH | O_CLOEXEC)); }

    const testing::TempTree tree_;
    const fs::path top_ = tree_.path();
};

TEST_F(BoundInode, IsTheSocketsOwnWhateverItsNameIsByNow) {
    const unique_fd one = bound("one");
    const unique_fd other = bound("other");
    EXPECT_EQ(is_bound_to(one.get(), handle("one").get()), 1);
    EXPECT_EQ(is_bound_to(one.get(), handle("other").get()), 0);
    fs::rename(top_ / "one", top_ / "kept");
    fs::rename(top_ / "other", top_ / "one");
    EXPECT_EQ(is_bound_to(one.get(), handle("one").get()), 0);
    EXPECT_EQ(is_bound_to(one.get(), handle("kept").get()), 1);
    EXPECT_EQ(is_bound_to(other.get(), handle("one").get()), 1);
}

TEST_F(BoundInode, IsNotToldOfWhatHasNone) {
    const unique_fd one = bound("one");
    const unique_fd unbound = make_socket();
    const unique_fd inet(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_LT(is_bound_to(unbound.get(), handle("one").get()), 0);
    EXPECT_LT(is_bound_to(inet.get(), handle("one").get()), 0);
    EXPECT_LT(is_bound_to(-1, handle("one").get()), 0);
}

}  // namespace
}  // namespace sandpipe::launcher
