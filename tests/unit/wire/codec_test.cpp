#include "wire/codec.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sandpipe::wire {
namespace {

TEST(Codec, NumbersAndTextsComeBack) {
    const std::string bytes = Encoder()
                                  .number(std::uint8_t{255})
                                  .number(std::int64_t{-5})
                                  .text("")
                                  .text(std::string_view("a\0b", 3))
                                  .texts({"x", "", "yz"})
                                  .take();
    Decoder in(bytes);
    std::uint8_t small = 0;
    std::int64_t large = 0;
    std::string empty = "old";
    std::string text;
    std::vector<std::string> list{"old"};
    EXPECT_TRUE(in.number(small).number(large).text(empty).text(text).texts(list).complete());
    EXPECT_EQ(small, 255);
    EXPECT_EQ(large, -5);
    EXPECT_EQ(empty, "");
    EXPECT_EQ(text, std::string("a\0b", 3));
    EXPECT_THAT(list, ::testing::ElementsAre("x", "", "yz"));
}

TEST(Codec, ViewsEndInNulAndPointIntoThePacket) {
    const std::string bytes = Encoder().text("word").take();
    std::string_view view;
    ASSERT_TRUE(Decoder(bytes).view(view).complete());
    EXPECT_EQ(view.data()[view.size()], '\0');
    EXPECT_GE(view.data(), bytes.data());
    EXPECT_LT(view.data(), bytes.data() + bytes.size());
}

TEST(Codec, AfterTheFirstMisfitNothingIsRead) {
    const std::string bytes = Encoder().number(std::uint16_t{7}).take();
    Decoder in(bytes);
    std::uint32_t wide = 9;
    std::uint16_t narrow = 9;
    in.number(wide).number(narrow);
    EXPECT_FALSE(in.ok());
    EXPECT_EQ(wide, 0U);
    EXPECT_EQ(narrow, 0U) << "though it would have fitted";
}

TEST(Codec, LengthsThatPointBeyondTheEnd) {
    for (const std::uint32_t size : {1U, 2U, 0x7fffffffU, 0xffffffffU}) {
        const std::string bytes = Encoder().number(size).take() + '\0';
        std::string_view view = "old";
        EXPECT_FALSE(Decoder(bytes).view(view).ok()) << size;
        EXPECT_EQ(view, "");
    }
}

TEST(Codec, TextsWithoutTheirNulAreRefused) {
    std::string bytes = Encoder().text("word").take();
    bytes.back() = 'x';
    std::string text;
    EXPECT_FALSE(Decoder(bytes).text(text).ok());
}

TEST(Codec, CountsThatAreTooHighTakeNoMemory) {
    const std::string bytes = Encoder().number(std::numeric_limits<std::uint32_t>::max()).text("one").take();
    std::vector<std::string> list;
    EXPECT_FALSE(Decoder(bytes).texts(list).ok());
    EXPECT_LE(list.size(), 2U);
}

TEST(Codec, BooleansOutsideTheirTypeAreRefused) {
    for (const std::uint8_t value : {2, 255}) {
        const std::string bytes = Encoder().number(value).take();
        bool flag = true;
        EXPECT_FALSE(Decoder(bytes).number(flag).complete());
        EXPECT_FALSE(flag);
    }
}

TEST(Codec, CompleteMeansNothingIsLeft) {
    const std::string bytes = Encoder().number(1).number(2).take();
    int value = 0;
    Decoder in(bytes);
    EXPECT_TRUE(in.number(value).ok());
    EXPECT_FALSE(in.complete());
    EXPECT_TRUE(in.number(value).complete());
}

}  // namespace
}  // namespace sandpipe::wire
