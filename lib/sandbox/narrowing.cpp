#include "sandbox/narrowing.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace sandpipe {
namespace {

using nlohmann::json;

std::string shown(const json& value) {
    return value.is_null() ? "absent" : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

const json& at(const json& object, const std::string& key) {
    static const json absent;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : absent;
}

void compare(const json& before, const json& after, const std::string& name, std::string& text) {
    if (before == after) return;
    if (!before.is_object() && !after.is_object()) {
        text += (text.empty() ? "" : "; ") + name + " is " + shown(after) + " instead of " + shown(before);
        return;
    }
    std::set<std::string> keys;
    for (const json* object : {&before, &after})
        if (object->is_object())
            for (const auto& [key, value] : object->items()) keys.insert(key);
    for (const std::string& key : keys)
        compare(at(before, key), at(after, key), name.empty() ? key : name + "." + key, text);
}

}  // namespace

std::string describe_narrowing(const SandboxPolicy& before, const SandboxPolicy& after) {
    std::string text;
    compare(before.to_json(), after.to_json(), "", text);
    return text.empty() ? "the same policy, in a session of its own" : text;
}

}  // namespace sandpipe
