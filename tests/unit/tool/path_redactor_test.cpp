#include "tool/path_redactor.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tool/stage_kind.hpp"

namespace sandpipe::tool {
namespace {

class Redactor : public ::testing::Test {
  protected:
    Redactor() : redactor_("/home/ann/code/app") {
        redactor_.hide("/home/ann", "~");
        redactor_.hide("/scratch dir/x/", "<scratch>");
        redactor_.hide("", "everything");
        redactor_.hide("/", "everything");
    }

    Denial redacted(const Denial& denial) { return std::get<Denial>(redactor_.event(denial)); }

    PathRedactor redactor_;
};

TEST_F(Redactor, PathsByTheLongestPlace) {
    EXPECT_EQ(redactor_.path("/home/ann/code/app"), ".");
    EXPECT_EQ(redactor_.path("/home/ann/code/app/src/x"), "./src/x");
    EXPECT_EQ(redactor_.path("/home/ann/code/application"), "~/code/application");
    EXPECT_EQ(redactor_.path("/home/ann"), "~");
    EXPECT_EQ(redactor_.path("/home/anna"), "/home/anna");
    EXPECT_EQ(redactor_.path("/scratch dir/x/y"), "<scratch>/y");
    EXPECT_EQ(redactor_.path("/etc/passwd"), "/etc/passwd");
    EXPECT_EQ(redactor_.path("src/x"), "src/x");
    EXPECT_EQ(redactor_.path(""), "");
}

TEST_F(Redactor, PathsWithinATextOfOurs) {
    EXPECT_EQ(redactor_.text("cwd /home/ann/code/app/x: missing"), "cwd ./x: missing");
    EXPECT_EQ(redactor_.text("\"/home/ann/.ssh\", /home/ann"), "\"~/.ssh\", ~");
    EXPECT_EQ(redactor_.text("in /scratch dir/x/f."), "in <scratch>/f.");
    EXPECT_EQ(redactor_.text("/data/home/ann"), "/data/home/ann") << "another place";
    EXPECT_EQ(redactor_.text("a/home/ann and /home/anna"), "a/home/ann and /home/anna");
    EXPECT_EQ(redactor_.text("PATH=/home/ann/bin:/home/ann/b"), "PATH=~/bin:~/b");
    EXPECT_EQ(redactor_.text(""), "");
}

TEST_F(Redactor, ADenialIsRedactedInAllItsPaths) {
    Denial denial;
    denial.path = "/home/ann/code/app/lock";
    denial.resolved = denial.path;
    denial.second_path = "/home/ann/x";
    denial.second_resolved = "/home/ann/y";
    denial.rule = "/home/ann/code/app/lock";
    denial.reason = "see /home/ann/policy";
    denial.writable_roots = {"/home/ann/code/app", "/data"};
    const Denial shown = redacted(denial);
    EXPECT_EQ(shown.path, "./lock");
    EXPECT_EQ(shown.resolved, "./lock");
    EXPECT_EQ(shown.second_path, "~/x");
    EXPECT_EQ(shown.second_resolved, "~/y");
    EXPECT_EQ(shown.rule, "./lock");
    EXPECT_EQ(shown.reason, "see ~/policy");
    EXPECT_EQ(shown.writable_roots, (std::vector<std::string>{".", "/data"}));
}

TEST(PathRedactor, ARelativePathDoesNotTellWhereTheWorkspaceStands) {
    const PathRedactor redactor("/srv/customer/app");
    Denial denial;
    denial.path = "../other/file";
    denial.resolved = "/srv/customer/other/file";
    EXPECT_EQ(std::get<Denial>(redactor.event(denial)).resolved, "../other/file");
    denial.resolved = "/srv/x";
    EXPECT_EQ(std::get<Denial>(redactor.event(denial)).resolved, "../../x");
    denial.resolved = "/etc/x";
    EXPECT_EQ(std::get<Denial>(redactor.event(denial)).resolved, "/etc/x");
    denial.path = "/srv/customer/other/file";
    denial.resolved = denial.path;
    EXPECT_EQ(std::get<Denial>(redactor.event(denial)).resolved, denial.path) << "its own word";
}

TEST_F(Redactor, EveryEventIsLookedAt) {
    OutputChunk chunk;
    chunk.data = "/home/ann";
    EXPECT_EQ(std::get<OutputChunk>(redactor_.event(chunk)).data, "/home/ann") << "the command's own output";
    Warning warning;
    warning.seq = 7;
    warning.text = "/home/ann/x has a second name";
    const auto shown = std::get<Warning>(redactor_.event(warning));
    EXPECT_EQ(shown.text, "~/x has a second name");
    EXPECT_EQ(shown.seq, 7U);
    Finished end;
    end.result.denials.resize(1);
    end.result.denials[0].path = "/home/ann/z";
    EXPECT_EQ(std::get<Finished>(redactor_.event(end)).result.denials[0].path, "~/z");
}

TEST_F(Redactor, AFailedStartTellsWhatTheModelAskedFor) {
    for (auto stage = static_cast<std::uint32_t>(Stage::queue);
         stage <= static_cast<std::uint32_t>(Stage::options); ++stage) {
        Finished end;
        end.result.status =
            NotStarted{static_cast<Stage>(stage), std::error_code(ENOENT, std::system_category()),
                       "/home/ann/code/app/x", "make /home/ann/y"};
        const auto shown = std::get<Finished>(redactor_.event(end));
        const auto& start = std::get<NotStarted>(shown.result.status);
        const bool of_the_machine = is_of_the_machine(start.stage);
        EXPECT_EQ(start.path, of_the_machine ? "" : "./x");
        EXPECT_EQ(start.hint, of_the_machine ? "" : "make ~/y");
        EXPECT_EQ(start.error.value(), ENOENT);
    }
    EXPECT_TRUE(is_of_the_machine(Stage::mounts));
    EXPECT_FALSE(is_of_the_machine(Stage::cwd));
}

}  // namespace
}  // namespace sandpipe::tool
