#include "feature_limits.hpp"

#include <charconv>

namespace sandpipe::wire {
namespace {

struct Word {
    std::string_view name;
    bool FeatureLimits::*feature;
};

constexpr Word kWords[] = {
    {"listener", &FeatureLimits::listener},           {"addfd_send", &FeatureLimits::addfd_send},
    {"wait_killable", &FeatureLimits::wait_killable}, {"close_range", &FeatureLimits::close_range},
    {"memfd_exec", &FeatureLimits::memfd_exec},
};
constexpr std::string_view kLandlock = "landlock";
constexpr std::string_view kLandlockAbove = "landlock>";

bool take_away(std::string_view word, FeatureLimits& limits) {
    for (const Word& known : kWords) {
        if (word != known.name) continue;
        limits.*known.feature = false;
        return true;
    }
    if (word == kLandlock) {
        limits.landlock_abi = 0;
        return true;
    }
    if (!word.starts_with(kLandlockAbove)) return false;
    const std::string_view number = word.substr(kLandlockAbove.size());
    const char* end = number.data() + number.size();
    const auto read = std::from_chars(number.data(), end, limits.landlock_abi);
    return read.ec == std::errc() && read.ptr == end && limits.landlock_abi >= 0;
}

}  // namespace

bool parse_feature_limits(std::string_view words, FeatureLimits& limits) {
    limits = {};
    while (!words.empty()) {
        const std::size_t comma = words.find(',');
        if (!take_away(words.substr(0, comma), limits)) return false;
        words = comma == std::string_view::npos ? std::string_view() : words.substr(comma + 1);
    }
    return true;
}

std::string to_words(const FeatureLimits& limits) {
    std::string words;
    const auto add = [&words](std::string_view word) {
        if (!words.empty()) words += ',';
        words += word;
    };
    if (limits.landlock_abi < FeatureLimits::kAnyLandlock)
        add(std::string(kLandlockAbove) + std::to_string(limits.landlock_abi));
    for (const Word& word : kWords)
        if (!(limits.*word.feature)) add(word.name);
    return words;
}

}  // namespace sandpipe::wire
