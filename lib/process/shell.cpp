#include <sandpipe/error.hpp>
#include <sandpipe/shell.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace sandpipe {
namespace {

constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "zsh", "ksh"};

// Words that mean themselves only when they are quoted, in some of these shells, as the first of a line.
constexpr std::array<std::string_view, 27> kReservedWords{
    "case",     "coproc", "declare", "do",       "done",    "elif",   "else", "end",    "esac",
    "export",   "fi",     "float",   "for",      "foreach", "function", "if", "in",     "integer",
    "local",    "readonly", "repeat", "select",  "then",    "time",   "typeset", "until", "while"};

constexpr bool is_plain(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '/' || c == ',' || c == ':' || c == '@' || c == '+';
}

bool is_plain(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return is_plain(c); });
    // A lone "-" is a modifier of zsh.
    return plain && word != "-" &&
           std::find(kReservedWords.begin(), kReservedWords.end(), word) == kReservedWords.end();
}

std::string quoted(const std::string& word) {
    if (is_plain(word)) return word;
    std::string text = "'";
    for (const char c : word) {
        if (c == '\'')
            text += "'\\''";
        else
            text += c;
    }
    return text + "'";
}

[[noreturn]] void refuse_nul(const std::string& what, std::size_t at) {
    throw Error(Errc::invalid_sandbox_config, what + " has a NUL byte at " + std::to_string(at) +
                                                  "; no argument and no line can have one: leave it out");
}

}  // namespace

std::string posix_quote(const std::vector<std::string>& argv) {
    std::string line;
    for (std::size_t i = 0; i < argv.size(); ++i) {
        if (const std::size_t at = argv[i].find('\0'); at != std::string::npos)
            refuse_nul("argv[" + std::to_string(i) + "]", at);
        if (i > 0) line += ' ';
        line += quoted(argv[i]);
    }
    return line;
}

void check_bin_shell(std::string_view bin_shell) {
    const std::string_view name = bin_shell.substr(bin_shell.find_last_of('/') + 1);
    if (bin_shell.starts_with('/') && std::find(kShells.begin(), kShells.end(), name) != kShells.end() &&
        bin_shell.find('\0') == bin_shell.npos)
        return;
    std::string shown(bin_shell.substr(0, bin_shell.find('\0')));
    if (shown.size() < bin_shell.size()) shown += "\\0...";
    throw Error(Errc::invalid_sandbox_config,
                "binShell is \"" + shown + "\"; it must be an absolute path to sh, bash, dash, zsh or ksh");
}

BinaryInvocation shell_invocation(std::string bin_shell, std::string line) {
    check_bin_shell(bin_shell);
    if (const std::size_t at = line.find('\0'); at != std::string::npos) refuse_nul("the line", at);
    return command(std::move(bin_shell)).args("-c", std::move(line));
}

}  // namespace sandpipe
