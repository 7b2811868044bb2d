#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {

/// For tests of commands that cannot be started.
class StartFailureFixture : public ProcessFixture {
  protected:
    /// Runs it, expects that no program ran, and says why.
    NotStarted refused(BinaryInvocation invocation) {
        const BinaryExecResult result = exec(std::move(invocation));
        EXPECT_EQ(result.cause, Cause::not_started);
        EXPECT_TRUE(result.failed);
        EXPECT_EQ(result.exit_code, -1);
        EXPECT_EQ(result.out, "");
        EXPECT_FALSE(result.forced);
        EXPECT_FALSE(result.pipe_held_open);
        const auto* failure = std::get_if<NotStarted>(&result.status);
        EXPECT_NE(failure, nullptr);
        return failure ? *failure : NotStarted{};
    }
    [[nodiscard]] std::string place(const std::string& name) const { return (scratch() / name).string(); }
};

inline void expect_failure(const NotStarted& failure, Stage stage, int error, const std::string& path,
                           const std::string& hint) {
    EXPECT_EQ(to_string(failure.stage), to_string(stage));
    EXPECT_EQ(failure.error, std::error_code(error, std::generic_category()));
    EXPECT_EQ(failure.path, path);
    EXPECT_THAT(failure.hint, ::testing::HasSubstr(hint));
}

}  // namespace sandpipe::testing
