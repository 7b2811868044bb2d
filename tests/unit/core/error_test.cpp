#include <gtest/gtest.h>
#include <sandpipe/error.hpp>

#include "core/escaped.hpp"

namespace sandpipe {
namespace {

std::string text_of(const std::string& value) {
    return Error(Errc::invalid_sandbox_config, "key[0] is \"" + value + "\"; accepted: a path").text();
}

TEST(ErrorText, IsOneLineWhateverItsValuesAre) {
    EXPECT_EQ(text_of("a\nb\x1b[2J\xff"), "key[0] is \"a\\x0ab\\x1b[2J\\xff\"; accepted: a path");
    EXPECT_EQ(text_of("b\u202Ea"), "key[0] is \"b\\xe2\\x80\\xaea\"; accepted: a path");
    EXPECT_EQ(text_of("h\xc3\xa4\\"), "key[0] is \"h\xc3\xa4\\\"; accepted: a path");
}

TEST(ErrorText, KeepsTheKeyAndTheRemedyOfALongOne) {
    const std::string path(4000, 'x');
    const std::string text = text_of(path);
    EXPECT_LT(text.size(), 1300U);
    EXPECT_TRUE(text.starts_with("key[0] is \"xxx") && text.ends_with("xxx\"; accepted: a path")) << text;
    EXPECT_NE(text.find(" ...(" + std::to_string(4000 + 30 - 1200) + " bytes)... "), std::string::npos) << text;
    EXPECT_NE(text_of(std::string(1000, 'x')).find(std::string(1000, 'x')), std::string::npos);
    EXPECT_EQ(std::string(Error(Errc::sandbox_failed, path).what()).substr(0, 20), "E_SANDBOX_FAILED: xx");
}

TEST(ErrorText, IsNotCutInsideACharacter) {
    for (std::size_t shift = 0; shift < 3; ++shift) {
        std::string value(shift, 'x');
        for (int i = 0; i < 1000; ++i) value += "\u20AC";
        EXPECT_EQ(detail::one_line(value).find("\\x"), std::string::npos) << shift;
    }
    EXPECT_LT(detail::one_line(std::string(100'000, '\x80')).size(), 5000U);
}

}  // namespace
}  // namespace sandpipe
