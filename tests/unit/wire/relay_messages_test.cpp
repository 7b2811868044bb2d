#include "wire/relay_messages.hpp"

#include <gtest/gtest.h>

#include "wire/messages.hpp"

namespace sandpipe::wire {
namespace {

template <typename Message>
Message through(const Message& message) {
    Message got;
    EXPECT_TRUE(decode(encode(message), got));
    return got;
}

TEST(RelayMessages, ComeThroughWhole) {
    EXPECT_EQ(through(Enter{"0123abcd"}).ticket, "0123abcd");
    (void)through(Entered{});
    const RelayedSignal signal = through(RelayedSignal{15, true});
    EXPECT_EQ(signal.signal, 15);
    EXPECT_TRUE(signal.to_all);
    EXPECT_EQ(through(CommandOver{0x0700}).wait_status, 0x0700);
    const EntryRefused refused = through(EntryRefused{125, "no"});
    EXPECT_EQ(refused.exit_status, 125);
    EXPECT_EQ(refused.text, "no");
}

TEST(RelayMessages, OthersAndCutOnesAreRefused) {
    Enter enter;
    RelayedSignal signal;
    EXPECT_FALSE(decode(encode(Signal{15}), signal));
    EXPECT_FALSE(decode(encode(Entered{}), enter));
    const std::string whole = encode(Enter{"ticket"});
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode(whole.substr(0, size), enter)) << size;
    EXPECT_FALSE(decode(whole + "x", enter));
}

}  // namespace
}  // namespace sandpipe::wire
