#include "sandbox/ticket_book.hpp"

#include <gtest/gtest.h>

namespace sandpipe {
namespace {

using namespace std::chrono_literals;

class TicketBookTest : public ::testing::Test {
  protected:
    void issue(const std::string& ticket) {
        InvocationFields fields;
        fields.program = "program of " + ticket;
        book_.issue(ticket, std::move(fields), now_);
    }
    /// The program that it is for, or why not.
    std::string take(const std::string& ticket) {
        const auto taken = book_.take(ticket, now_);
        if (const auto* refusal = std::get_if<TicketRefusal>(&taken)) return to_text(*refusal);
        return std::get<InvocationFields>(taken).program;
    }

    TicketBook book_{60s};
    TicketBook::Time now_{1000s};
};

TEST_F(TicketBookTest, AdmitsOnce) {
    issue("a");
    EXPECT_TRUE(book_.outstanding());
    EXPECT_EQ(take("a"), "program of a");
    EXPECT_FALSE(book_.outstanding());
    EXPECT_EQ(take("a"), to_text(TicketRefusal::used));
    EXPECT_EQ(take("b"), to_text(TicketRefusal::unknown));
}

TEST_F(TicketBookTest, AdmitsUntilItExpires) {
    issue("a");
    issue("b");
    EXPECT_EQ(book_.next_expiry(), now_ + 60s);
    now_ += 60s - 1ns;
    EXPECT_EQ(take("a"), "program of a");
    now_ += 1ns;
    EXPECT_EQ(take("b"), to_text(TicketRefusal::expired));
    EXPECT_FALSE(book_.outstanding());
    EXPECT_EQ(book_.next_expiry(), std::nullopt);
}

TEST_F(TicketBookTest, RemembersForALifetimeMore) {
    issue("a");
    issue("b");
    EXPECT_EQ(take("b"), "program of b");
    now_ += 120s - 1ns;
    EXPECT_EQ(take("a"), to_text(TicketRefusal::expired));
    EXPECT_EQ(take("b"), to_text(TicketRefusal::used));
    now_ += 1ns;
    EXPECT_EQ(take("a"), to_text(TicketRefusal::unknown));
    EXPECT_EQ(take("b"), to_text(TicketRefusal::unknown));
}

TEST_F(TicketBookTest, ForgetsWhatIsRetired) {
    issue("a");
    issue("b");
    book_.retire("a");
    EXPECT_TRUE(book_.outstanding());
    book_.retire("b");
    book_.retire("b");
    book_.retire("never");
    EXPECT_FALSE(book_.outstanding());
    EXPECT_EQ(take("a"), to_text(TicketRefusal::unknown));
}

TEST_F(TicketBookTest, RetiringAUsedOneChangesNothingForOthers) {
    issue("a");
    issue("b");
    EXPECT_EQ(take("a"), "program of a");
    book_.retire("a");
    EXPECT_TRUE(book_.outstanding());
    EXPECT_EQ(take("b"), "program of b");
}

TEST_F(TicketBookTest, TheNextExpiryIsThatOfTheOldestThatCounts) {
    issue("a");
    now_ += 10s;
    issue("b");
    EXPECT_EQ(book_.next_expiry(), now_ + 50s);
    book_.retire("a");
    EXPECT_EQ(book_.next_expiry(), now_ + 60s);
}

}  // namespace
}  // namespace sandpipe
