#include "sandbox/cell_failure.hpp"

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace sandpipe {
namespace {

std::string text_of(int error) {
    wire::Failure failure;
    failure.stage = Stage::mounts;
    failure.error = error;
    failure.path = "/dev";
    try {
        throw_cell_failure(failure, false);
    } catch (const Error& thrown) {
        EXPECT_EQ(thrown.errc(), Errc::sandbox_failed);
        return thrown.text();
    }
    return {};
}

TEST(CellFailure, AShortageOfDescriptorsNamesTheirLimit) {
    EXPECT_EQ(text_of(EMFILE), "the sandbox could not be made: mounts /dev: Too many open files; see ulimit -n");
    EXPECT_EQ(text_of(EIO), "the sandbox could not be made: mounts /dev: Input/output error");
}

}  // namespace
}  // namespace sandpipe
