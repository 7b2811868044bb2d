#include "tool/bounded_text.hpp"

#include <gtest/gtest.h>

namespace sandpipe::tool {
namespace {

constexpr const char* kMarker = "0123456789ab";

std::string left_out(int bytes, int lines) {
    return "[sandbox 0123456789ab] left out here: " + std::to_string(bytes) + " bytes, " +
           std::to_string(lines) + (lines == 1 ? " line\n" : " lines\n");
}

TEST(BoundedText, AShortTextIsWhole) {
    BoundedText text(10);
    text.append("01234");
    text.append("56789");
    EXPECT_EQ(text.text(kMarker), "0123456789");
    EXPECT_EQ(text.left_out().bytes, 0U);
}

TEST(BoundedText, ALongTextHasHeadAndTail) {
    BoundedText text(10);
    text.append("0123456789abc");
    EXPECT_EQ(text.text(kMarker), "01234\n" + left_out(3, 0) + "89abc");
}

TEST(BoundedText, PiecesDoNotMatter) {
    std::string all;
    for (int i = 0; i < 500; ++i) all += static_cast<char>('a' + i % 26);
    for (std::size_t piece = 1; piece < 40; ++piece) {
        BoundedText text(20);
        for (std::size_t at = 0; at < all.size(); at += piece)
            text.append(std::string_view(all).substr(at, piece));
        EXPECT_EQ(text.text(kMarker), all.substr(0, 10) + "\n" + left_out(480, 0) + all.substr(490));
        EXPECT_EQ(text.left_out().bytes, 480U);
    }
}

TEST(BoundedText, CutsBetweenCharacters) {
    BoundedText text(8);
    text.append("abc\u20acdefgh\u20acxy");  // the head ends inside the first euro sign, the tail begins
                                            // inside the second
    EXPECT_EQ(text.text(kMarker), "abc\n" + left_out(11, 0) + "xy");
}

TEST(BoundedText, CutsBetweenLinesWhereOneEndsNear) {
    std::string all;
    for (int i = 10; i < 60; ++i) all += "line " + std::to_string(i) + "\n";
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, all.size()}) {
        BoundedText text(44);  // 22 bytes each: two lines and a part of one
        for (std::size_t at = 0; at < all.size(); at += piece)
            text.append(std::string_view(all).substr(at, piece));
        EXPECT_EQ(text.text(kMarker), "line 10\nline 11\n" + left_out(46 * 8, 46) + "line 58\nline 59\n");
        EXPECT_EQ(text.left_out().lines, 46U);
    }
}

TEST(BoundedText, ALongLineIsCutWhereItMust) {
    BoundedText text(20);
    text.append("a\n" + std::string(100, 'x') + "\nb\n");
    EXPECT_EQ(text.text(kMarker), "a\nxxxxxxxx\n" + left_out(85, 0) + "xxxxxxx\nb\n");
}

TEST(BoundedText, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(valid_utf8("a\xff\u20ac\xe2\x82"), "a\uFFFD\u20ac\uFFFD");
    EXPECT_EQ(valid_utf8(""), "");
}

}  // namespace
}  // namespace sandpipe::tool
