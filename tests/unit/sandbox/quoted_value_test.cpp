#include "sandbox/policy/quoted_value.hpp"

#include <sandpipe/error.hpp>
#include <sandpipe/policy.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sandpipe {
namespace {

using nlohmann::json;

TEST(QuotedValue, IsJsonOfOneLineAndBounded) {
    EXPECT_EQ(quoted_value(json::parse(R"([1, {"a": "b\u001b"}])"), 60), R"([1,{"a":"b\u001b"}])");
    EXPECT_EQ(quoted_value(json(std::string(100, 'x')), 10), "\"xxxxxxxxx... (102 bytes)");
}

TEST(QuotedValue, HoweverDeepAValueIsNestedTheStackHolds) {
    constexpr int levels = 200'000;
    const json deep = json::parse(std::string(levels, '[') + std::string(levels, ']'));
    EXPECT_EQ(quoted_value(deep, 60), "a deeply nested array");
    const std::string policy =
        R"({"filesystem":{"denyRead":)" + std::string(levels, '[') + std::string(levels, ']') + "}}";
    EXPECT_THROW((void)SandboxPolicy::from_json(json::parse(policy)), Error);
}

}  // namespace
}  // namespace sandpipe
