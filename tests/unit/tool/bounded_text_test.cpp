#include "tool/bounded_text.hpp"

#include <gtest/gtest.h>

namespace sandpipe::tool {
namespace {

std::string left_out(int bytes) { return "\n[... " + std::to_string(bytes) + " bytes left out ...]\n"; }

TEST(BoundedText, AShortTextIsWhole) {
    BoundedText text(10);
    text.append("01234");
    text.append("56789");
    EXPECT_EQ(text.text(), "0123456789");
    EXPECT_EQ(text.left_out(), 0U);
}

TEST(BoundedText, ALongTextHasHeadAndTail) {
    BoundedText text(10);
    text.append("0123456789abc");
    EXPECT_EQ(text.text(), "01234" + left_out(3) + "89abc");
}

TEST(BoundedText, PiecesDoNotMatter) {
    std::string all;
    for (int i = 0; i < 500; ++i) all += static_cast<char>('a' + i % 26);
    for (std::size_t piece = 1; piece < 40; ++piece) {
        BoundedText text(20);
        for (std::size_t at = 0; at < all.size(); at += piece)
            text.append(std::string_view(all).substr(at, piece));
        EXPECT_EQ(text.text(), all.substr(0, 10) + left_out(480) + all.substr(490));
        EXPECT_EQ(text.left_out(), 480U);
    }
}

TEST(BoundedText, CutsBetweenCharacters) {
    BoundedText text(8);
    text.append("abc\u20acdefgh\u20acxy");  // the head ends inside the first euro sign, the tail begins
                                            // inside the second
    EXPECT_EQ(text.text(), "abc" + left_out(11) + "xy");
}

TEST(BoundedText, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(valid_utf8("a\xff\u20ac\xe2\x82"), "a\uFFFD\u20ac\uFFFD");
    EXPECT_EQ(valid_utf8(""), "");
}

}  // namespace
}  // namespace sandpipe::tool
