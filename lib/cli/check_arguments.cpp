#include "check_arguments.hpp"

#include <sandpipe/error.hpp>

#include <CLI/CLI.hpp>

#include <set>
#include <string_view>

#include "sandbox/policy/nearest_key.hpp"

namespace sandpipe::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

/// "SECONDS" of "SECONDS until the command is ended".
std::string value_name(const CLI::Option& option) {
    const std::string& help = option.get_description();
    return help.substr(0, help.find(' '));
}

std::string command_of(const CLI::App& app) {
    const std::string& name = app.get_name();
    return name.substr(name.rfind(' ') + 1);
}

class ArgumentCheck {
  public:
    ArgumentCheck(const CLI::App& app, const CLI::App& all, bool takes_words)
        : app_(app), all_(all), takes_words_(takes_words) {}

    /// Returns how many of `args`, from the one at `index`, belong together.
    std::size_t take(const std::vector<std::string>& args, std::size_t index) {
        const std::string& arg = args[index];
        if (arg.size() < 2 || arg[0] != '-') return take_word(arg);
        const bool is_long = arg[1] == '-';
        const std::size_t end = is_long ? arg.find('=') : std::min<std::size_t>(arg.size(), 2);
        const std::string name = arg.substr(0, end);
        const CLI::Option* option = app_.get_option_no_throw(name);
        if (!option) unknown(name);
        const bool has_value = name.size() < arg.size();
        if (option->get_items_expected_max() == 0) {
            if (has_value && is_long) check_flag(name, arg.substr(end + 1));
            return 1;
        }
        check_count(*option, name);
        if (has_value) return 1;
        if (index + 1 == args.size()) refuse(name + " needs a value: " + value_name(*option));
        return 2;
    }

  private:
    std::size_t take_word(const std::string& word) const {
        if (takes_words_) return 1;
        std::string text = "\"" + word + "\" is no option of sandpipe " + command_of(app_) +
                           "; a program and its arguments stand after --";
        if (app_.get_option_no_throw("-c")) text += ", a LINE for the shell is one word after -c";
        refuse(text);
    }

    [[noreturn]] void unknown(const std::string& name) const {
        std::string text = name + " is no option of sandpipe " + command_of(app_);
        if (all_.get_option_no_throw(name)) refuse(text + "; sandpipe run has it");
        std::vector<std::string> names;
        for (const CLI::Option* option : app_.get_options())
            for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
        const std::vector<std::string_view> views(names.begin(), names.end());
        const std::string& nearest = names[nearest_key(name, views)];
        if (is_near(name, nearest)) text += "; the nearest is " + nearest;
        refuse(text + "; see sandpipe " + command_of(app_) + " --help");
    }

    /// "--json=true" and "--json=" are what CLI11 takes for "--json".
    static void check_flag(const std::string& name, const std::string& value) {
        if (!value.empty() && value != "true")
            refuse(name + " takes no value, and not \"" + value + "\"; leave it out where it shall not hold");
    }

    void check_count(const CLI::Option& option, const std::string& name) {
        const bool may_repeat = option.get_items_expected_max() > 1;
        if (!seen_.insert(name).second && !may_repeat) refuse(name + " stands twice; keep one");
    }

    const CLI::App& app_;
    const CLI::App& all_;
    const bool takes_words_;
    std::set<std::string> seen_;
};

}  // namespace

void check_arguments(const CLI::App& app, const CLI::App& all, const std::vector<std::string>& args, bool takes_words) {
    ArgumentCheck check(app, all, takes_words);
    for (std::size_t index = 0; index < args.size();) index += check.take(args, index);
}

}  // namespace sandpipe::cli
