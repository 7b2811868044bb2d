#include "sandbox/policy/nearest_key.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sandpipe {
namespace {

// Names longer than any key of ours are cut, so that a hostile file cannot make the comparison expensive.
constexpr std::size_t kMaxCompared = 64;

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string plain(std::string_view name) {
    std::string letters;
    for (const char letter : name.substr(0, kMaxCompared))
        if (letter != '_' && letter != '-') letters.push_back(lower(letter));
    return letters;
}

}  // namespace

std::size_t edit_distance(std::string_view left, std::string_view right) {
    const std::string a = plain(left);
    const std::string b = plain(right);
    // Optimal string alignment: cost[i][j] turns the first i letters of a into the first j of b.
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, changed});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a.size()][b.size()];
}

std::size_t nearest_key(std::string_view name, std::span<const std::string_view> known) {
    const auto nearer = [&](std::string_view a, std::string_view b) {
        return edit_distance(name, a) < edit_distance(name, b);
    };
    return static_cast<std::size_t>(std::min_element(known.begin(), known.end(), nearer) - known.begin());
}

bool is_near(std::string_view name, std::string_view known) {
    return edit_distance(name, known) * 2 <= std::max(plain(name).size(), plain(known).size());
}

}  // namespace sandpipe
