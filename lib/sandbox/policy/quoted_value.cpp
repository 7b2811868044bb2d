#include "sandbox/policy/quoted_value.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sandpipe {
namespace {

constexpr int kMostLevels = 16;

bool is_nested_deeper(const nlohmann::json& value, int levels) {
    if (!value.is_structured()) return false;
    return levels == 0 || std::any_of(value.begin(), value.end(), [levels](const nlohmann::json& part) {
               return is_nested_deeper(part, levels - 1);
           });
}

}  // namespace

std::string quoted_value(const nlohmann::json& value, std::size_t most) {
    if (is_nested_deeper(value, kMostLevels)) return std::string("a deeply nested ") + value.type_name();
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() <= most) return text;
    return text.substr(0, most) + "... (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace sandpipe
