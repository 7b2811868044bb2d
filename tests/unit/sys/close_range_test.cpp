#include "sys/close_range.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "sys/descriptors.hpp"

namespace sandpipe::sys {
namespace {

/// In a child, which may lose what it has open: 0 if exactly the descriptors of `kept` of 100 to 399 are left.
int in_child(const std::vector<int>& kept, int (*close_others)(bool), bool by_call) {
    const pid_t child = ::fork();
    if (child == 0) {
        for (int fd = 100; fd < 400; ++fd)
            if (::dup2(2, fd) < 0) ::_exit(2);
        if (close_others(by_call) != 0) ::_exit(3);
        std::size_t next = 0;
        for (int fd = 100; fd < 400; ++fd) {
            const bool open = ::fcntl(fd, F_GETFD) >= 0;
            const bool wanted = next < kept.size() && kept[next] == fd;
            if (wanted) ++next;
            if (open != wanted) ::_exit(4);
        }
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CloseRange, ClosesTheSameWithAndWithoutTheCall) {
    for (const bool by_call : {true, false}) {
        EXPECT_EQ(in_child({100, 399}, [](bool call) { return close_range(101, 398, call); }, by_call), 0) << by_call;
        EXPECT_EQ(in_child({}, [](bool call) { return close_range(100, ~0U, call); }, by_call), 0) << by_call;
        EXPECT_EQ(in_child(
                      {250, 300},
                      [](bool call) {
                          return close_all_but({300, 250}, call);
                      },
                      by_call),
                  0)
            << by_call;
    }
}

TEST(CloseRange, OfNothingClosesNothing) {
    for (const bool by_call : {true, false}) {
        EXPECT_EQ(close_range(3, 2, by_call), 0);
        EXPECT_GE(::fcntl(2, F_GETFD), 0);
    }
}

}  // namespace
}  // namespace sandpipe::sys
