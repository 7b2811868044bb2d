#include "launcher/paths/steady_path.hpp"

#include "launcher/paths/resolve.hpp"
#include "launcher/paths/supervised_place.hpp"

namespace sandpipe::launcher {

bool is_steady(const wire::AccessRules& rules, const std::string& start, std::string_view path,
               const std::string& place) {
    std::string rest(path);
    std::string here = path.substr(0, 1) == "/" ? "/" : start;
    std::string name = take_component(rest);
    while (true) {
        std::string next = take_component(rest);
        if (next.empty()) break;
        if (name == ".." || (name != "." && rules.in_root(here))) return false;
        if (name != ".") here = join(here, name);
        name = std::move(next);
    }
    return !here.empty() && join(here, name) == place;
}

}  // namespace sandpipe::launcher
