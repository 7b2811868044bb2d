#include <sandpipe/environment.hpp>
#include <sandpipe/error.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sandpipe {
namespace {

std::string_view name_of(const std::string& entry) {
    return std::string_view(entry).substr(0, entry.find('='));
}

void check_name(const std::string& name) {
    if (name.empty() || name.find_first_of(std::string("=\0", 2)) != std::string::npos)
        throw Error(Errc::invalid_sandbox_config,
                    "\"" + name.substr(0, name.find('\0')) +
                        "\" is no name of an environment variable: it is empty, or has"
                        " '=' or NUL in it");
}

void check_value(const std::string& name, const std::string& value) {
    if (value.find('\0') != std::string::npos)
        throw Error(Errc::invalid_sandbox_config,
                    "the value of the environment variable " + name + " has a NUL byte");
}

void remove(std::vector<std::string>& block, std::string_view name) {
    std::erase_if(block, [&](const std::string& entry) { return name_of(entry) == name; });
}

}  // namespace

Environment Environment::names(std::vector<std::string> names) {
    Environment environment;
    environment.base_ = Base::names;
    environment.names_ = std::move(names);
    return environment;
}

Environment Environment::inherit_all() {
    Environment environment;
    environment.base_ = Base::all;
    return environment;
}

Environment Environment::empty() { return {}; }

Environment Environment::standard() {
    return names({"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"});
}

Environment& Environment::set(std::string name, std::string value) & {
    changes_.push_back({std::move(name), std::move(value), false});
    return *this;
}

Environment&& Environment::set(std::string name, std::string value) && {
    return std::move(set(std::move(name), std::move(value)));
}

Environment& Environment::unset(std::string name) & {
    changes_.push_back({std::move(name), {}, true});
    return *this;
}

Environment&& Environment::unset(std::string name) && { return std::move(unset(std::move(name))); }

std::vector<std::string> Environment::resolve(const std::vector<std::string>& snapshot) const {
    return lay_over({}, snapshot);
}

std::vector<std::string> Environment::lay_over(std::vector<std::string> block,
                                               const std::vector<std::string>& snapshot) const {
    for (const std::string& name : names_) check_name(name);
    for (const std::string& entry : snapshot) {
        const bool wanted =
            base_ == Base::all || std::find(names_.begin(), names_.end(), name_of(entry)) != names_.end();
        if (!wanted) continue;
        remove(block, name_of(entry));
        block.push_back(entry);
    }
    for (const Change& change : changes_) {
        check_name(change.name);
        check_value(change.name, change.value);
        remove(block, change.name);
        if (!change.unset) block.push_back(change.name + "=" + change.value);
    }
    return block;
}

}  // namespace sandpipe
