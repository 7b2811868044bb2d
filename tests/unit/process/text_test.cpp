#include <sandpipe/text.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace sandpipe {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

/// Decoded in chunks of `size` bytes.
std::string decoded(const std::string& bytes, std::size_t size) {
    Utf8Decoder decoder;
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += size) text += decoder.decode(bytes.substr(at, size));
    return text + decoder.flush();
}

struct Utf8Case {
    std::string bytes;
    std::string text;
};

TEST(Utf8Decoder, ReplacesWhatIsNoUtf8WhereverTheChunksAreCut) {
    const std::vector<Utf8Case> cases{
        {"plain", "plain"},
        {"a\xFF" "b\xC0", "a" + kBad + "b" + kBad},
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\xE2\x82", kBad},                              // cut at the end
        {"\xE2\x82" "A", kBad + "A"},                    // cut in the middle: one for the maximal part
        {"\xED\xA0\x80", kBad + kBad + kBad},            // a surrogate
        {"\xC0\xAF", kBad + kBad},                       // overlong
        {"\xF4\x90\x80\x80", kBad + kBad + kBad + kBad}, // beyond U+10FFFF
        {std::string("\0x", 2), std::string("\0x", 2)},
    };
    for (const Utf8Case& c : cases)
        for (std::size_t size = 1; size <= 5; ++size) EXPECT_EQ(decoded(c.bytes, size), c.text) << size;
}

/// Lines of `bytes` split in chunks of `size`.
std::vector<Line> lines(const std::string& bytes, std::size_t size, LineOptions options = {}) {
    LineSplitter splitter(options);
    std::vector<Line> all;
    for (std::size_t at = 0; at < bytes.size(); at += size)
        for (Line& line : splitter.split(bytes.substr(at, size))) all.push_back(std::move(line));
    for (Line& line : splitter.flush()) all.push_back(std::move(line));
    return all;
}

TEST(LineSplitter, TrimsCrLfAndKeepsLoneCrAndTheLastLine) {
    for (std::size_t size = 1; size <= 7; ++size) {
        const std::vector<Line> expected{{"one\rtwo\rdone", false, true}, {"last", false, true}, {"", false, true},
                                         {"rest", false, false}};
        EXPECT_EQ(lines("one\rtwo\rdone\nlast\r\n\nrest", size), expected) << size;
    }
    EXPECT_TRUE(lines("", 1).empty());
}

TEST(LineSplitter, TakesAnyDelimiter) {
    LineOptions options;
    options.delimiter = '\0';
    const std::vector<Line> expected{{"a\n", false, true}, {"b", false, true}};
    EXPECT_EQ(lines(std::string("a\n\0b\0", 5), 2, options), expected);
}

TEST(LineSplitter, SplitsTooLongLinesWithoutLosingAByte) {
    LineOptions options;
    options.max_length = 4;
    for (std::size_t size = 1; size <= 12; ++size) {
        const std::vector<Line> expected{{"abcd", true, false}, {"efgh", true, false}, {"ij", false, true},
                                         {"klmn", false, true}, {"o", false, false}};
        EXPECT_EQ(lines("abcdefghij\nklmn\r\no", size, options), expected) << size;
    }
}

TEST(LineSplitter, ALineOfManyChunksComesWhole) {
    const std::string long_line(300'000, 'x');
    const std::vector<Line> expected{{long_line, false, true}, {"tail", false, false}};
    EXPECT_EQ(lines(long_line + "\ntail", 4096), expected);
}

/// All texts of so many of these letters.
std::vector<std::string> texts_of(const std::string& letters, std::size_t length) {
    std::vector<std::string> texts{""};
    for (std::size_t i = 0; i < length; ++i) {
        std::vector<std::string> longer;
        for (const std::string& text : texts)
            for (const char letter : letters) longer.push_back(text + letter);
        texts = std::move(longer);
    }
    return texts;
}

void expect_same_lines_by_every_size(const std::string& text, const LineOptions& options) {
    const std::vector<Line> whole = lines(text, text.size() + 1, options);
    std::string joined;
    for (const Line& line : whole) {
        ASSERT_LE(line.text.size(), options.max_length) << ::testing::PrintToString(text);
        joined += line.text + (line.terminated ? std::string(1, options.delimiter) : "");
    }
    const bool loses_cr = options.delimiter == '\n' && text.find("\r\n") != std::string::npos;
    ASSERT_TRUE(loses_cr || joined == text) << ::testing::PrintToString(text);
    for (std::size_t size = 1; size < text.size(); ++size)
        ASSERT_EQ(lines(text, size, options), whole) << ::testing::PrintToString(text) << " by " << size;
}

TEST(LineSplitter, EveryTextGivesTheSameLinesHoweverItIsCut) {
    LineOptions options;
    options.max_length = 2;
    for (const char delimiter : {'\n', '\r', '\0'}) {
        options.delimiter = delimiter;
        const std::string letters{'a', '\r', delimiter == '\0' ? '\0' : '\n'};
        for (std::size_t length = 0; length <= 7; ++length)
            for (const std::string& text : texts_of(letters, length)) expect_same_lines_by_every_size(text, options);
    }
}

}  // namespace
}  // namespace sandpipe
