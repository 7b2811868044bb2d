#include "process/entry.hpp"

#include <gmock/gmock.h>

namespace sandpipe::detail {
namespace {

using ::testing::ElementsAre;

class EnterDirectly : public ::testing::Test {
  protected:
    EnterDirectly() {
        auto entry = std::make_shared<Entry>();
        entry->relay = {"/relay", "enter", "1", "/a", "t"};
        entry->command = {"git", "log"};
        entry->cwd = "inner";
        entry->retire = [this] { ++retired_; };
        fields_.entry = entry;
    }
    void run(std::vector<std::string> argv) {
        fields_.program = argv.front();
        fields_.args.assign(argv.begin() + 1, argv.end());
        enter_directly(fields_);
    }

    InvocationFields fields_;
    int retired_ = 0;
};

TEST_F(EnterDirectly, PutsTheCommandBack) {
    run({"/relay", "enter", "1", "/a", "t"});
    EXPECT_EQ(fields_.program, "git");
    EXPECT_THAT(fields_.args, ElementsAre("log"));
    EXPECT_EQ(fields_.cwd, "inner");
    EXPECT_EQ(retired_, 1);
    enter_directly(fields_);
    EXPECT_EQ(retired_, 1) << "once";
}

TEST_F(EnterDirectly, WithinTheWordsOfALaterWrapper) {
    fields_.cwd = "other";
    run({"nice", "-n", "5", "/relay", "enter", "1", "/a", "t", "--more"});
    EXPECT_EQ(fields_.program, "nice");
    EXPECT_THAT(fields_.args, ElementsAre("-n", "5", "git", "log", "--more"));
    EXPECT_EQ(fields_.cwd, "other");
}

TEST_F(EnterDirectly, LeavesWhatReplacedIt) {
    run({"echo", "/relay", "enter"});
    EXPECT_EQ(fields_.program, "echo");
    EXPECT_THAT(fields_.args, ElementsAre("/relay", "enter"));
    EXPECT_EQ(retired_, 1);
}

}  // namespace
}  // namespace sandpipe::detail
