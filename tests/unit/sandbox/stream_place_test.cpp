#include "sandbox/stream_place.hpp"

#include <gtest/gtest.h>

#include "fake_path_facts.hpp"

namespace sandpipe {
namespace {

using wire::Access;

class StreamPlaces : public ::testing::Test {
  protected:
    StreamPlaces() {
        facts_.file("/w/file").file("/o/file").file("/w/.git/hooks/x").file("/w/secret");
        facts_.link("/w/out", "../o/file")
            .link("/w/in", "secret")
            .link("/w/hook", ".git/hooks/x")
            .link("/w/good", "file");
        facts_.link("/w/up", "/o").link("/way", "/w").link("/far", "/o/file").link("/dev/fd", "/proc/self/fd");
        rules_.add({Access::allow_write, "/w", "root", {}, false});
        rules_.add({Access::deny_write, "/w/.git/hooks", "hooks", {}, false});
        rules_.add({Access::deny_read, "/w/secret", "secret", {}, false});
    }
    [[nodiscard]] detail::StreamPlace find(const char* path, bool writes) const {
        return find_stream_place(path, writes, rules_, {"/w"}, facts_);
    }
    test::FakePathFacts facts_;
    wire::AccessRules rules_;
};

TEST_F(StreamPlaces, LinksInTheTreesLeadNowhereElse) {
    for (const bool writes : {false, true})
        for (const char* path : {"/w/out", "/w/up/file", "/way/out", "/w/in", "/w/up/new", "/w/./out"})
            EXPECT_FALSE(find(path, writes).allowed) << path;
    EXPECT_FALSE(find("/w/hook", true).allowed);
    EXPECT_TRUE(find("/w/hook", false).allowed);
}

TEST_F(StreamPlaces, OthersAreOpenedWhereTheyLead) {
    const std::vector<std::pair<const char*, const char*>> places{
        {"/w/good", "/w/file"}, {"/way/good", "/w/file"},     {"/far", "/o/file"},        {"/w/new", "/w/new"},
        {"/w/../o/file", "/o/file"}, {"/w/secret", "/w/secret"}, {"/w/.git/hooks/x", "/w/.git/hooks/x"}};
    for (const auto& [path, place] : places) {
        const detail::StreamPlace found = find(path, true);
        EXPECT_TRUE(found.allowed) << path;
        EXPECT_TRUE(found.without_links) << path;
        EXPECT_EQ(found.path, place);
    }
    EXPECT_EQ(find("/dev/fd/7", false).path, "/dev/fd/7");
    EXPECT_FALSE(find("/dev/fd/7", false).without_links);
}

}  // namespace
}  // namespace sandpipe
