#include <sandpipe/end_status.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/unique_fd.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace sandpipe {
namespace {

TEST(Error, CarriesNameNumberAndText) {
    struct Row {
        Errc code;
        std::string_view name;
        int number;
    };
    constexpr Row kRows[] = {
        {Errc::invalid_sandbox_config, "E_INVALID_SANDBOX_CONFIG", 400},
        {Errc::sandbox_unsupported_env, "E_SANDBOX_UNSUPPORTED_ENV", 400},
        {Errc::sandbox_path_escape, "E_SANDBOX_PATH_ESCAPE", 400},
        {Errc::sandbox_refused, "E_SANDBOX_REFUSED", 403},
        {Errc::sandbox_policy_conflict, "E_SANDBOX_POLICY_CONFLICT", 409},
        {Errc::sandbox_narrowing_unsupported, "E_SANDBOX_NARROWING_UNSUPPORTED", 422},
        {Errc::sandbox_dependency_missing, "E_SANDBOX_DEPENDENCY_MISSING", 424},
        {Errc::sandbox_gate_required, "E_SANDBOX_GATE_REQUIRED", 428},
        {Errc::sandbox_not_initialized, "E_SANDBOX_NOT_INITIALIZED", 500},
        {Errc::sandbox_failed, "E_SANDBOX_FAILED", 500},
    };
    for (const Row& row : kRows) {
        const Error error(row.code, "why");
        EXPECT_EQ(error.errc(), row.code);
        EXPECT_EQ(error.name(), row.name);
        EXPECT_EQ(error.number(), row.number);
        EXPECT_EQ(error.text(), "why");
        EXPECT_EQ(error.what(), std::string(row.name) + ": why");
        EXPECT_EQ(error.code(), make_error_code(row.code));
    }
}

TEST(Names, AreThoseOfTheManualPages) {
    EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
    EXPECT_EQ(signal_name(42), "SIG42");
    EXPECT_EQ(errno_name(EROFS), "EROFS");
    EXPECT_EQ(errno_name(0), "");
    EXPECT_EQ(errno_name(4095), "E4095");
    EXPECT_EQ(to_string(Stage::cwd), "cwd");
    EXPECT_EQ(to_string(Stage::options), "options");
    EXPECT_EQ(to_string(Cause::timed_out), "timed_out");
    EXPECT_EQ(to_string(Cause::lost), "lost");
}

TEST(UniqueFd, ClosesWhatItOwnsAndNothingElse) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    unique_fd first(fd);
    unique_fd second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), fd);
    second.reset();
    EXPECT_LT(::fcntl(fd, F_GETFD), 0);
    EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace sandpipe
