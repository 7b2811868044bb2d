#include "interpreters.hpp"

#include <algorithm>
#include <array>

namespace sandpipe {
namespace {

constexpr std::array kInterpreters{
    std::string_view("ash"), std::string_view("awk"),     std::string_view("bash"),    std::string_view("bun"),
    std::string_view("busybox"), std::string_view("csh"), std::string_view("dash"),    std::string_view("deno"),
    std::string_view("ed"),  std::string_view("elvish"),  std::string_view("emacs"),   std::string_view("env"),
    std::string_view("ex"),  std::string_view("expect"),  std::string_view("find"),    std::string_view("fish"),
    std::string_view("flock"), std::string_view("gawk"),  std::string_view("gdb"),     std::string_view("guile"),
    std::string_view("ionice"), std::string_view("irb"),  std::string_view("java"),    std::string_view("jshell"),
    std::string_view("julia"), std::string_view("ksh"),   std::string_view("lua"),     std::string_view("luajit"),
    std::string_view("m4"),  std::string_view("make"),    std::string_view("mawk"),    std::string_view("mksh"),
    std::string_view("nawk"), std::string_view("nice"),   std::string_view("node"),    std::string_view("nodejs"),
    std::string_view("nohup"), std::string_view("npx"),   std::string_view("nsenter"), std::string_view("nu"),
    std::string_view("ocaml"), std::string_view("parallel"), std::string_view("perl"), std::string_view("php"),
    std::string_view("pwsh"), std::string_view("pypy"),   std::string_view("python"),  std::string_view("rbash"),
    std::string_view("ruby"), std::string_view("sed"),    std::string_view("setsid"),  std::string_view("sh"),
    std::string_view("ssh"), std::string_view("stdbuf"),  std::string_view("strace"),  std::string_view("su"),
    std::string_view("sudo"), std::string_view("tclsh"),  std::string_view("tcsh"),    std::string_view("time"),
    std::string_view("timeout"), std::string_view("toybox"), std::string_view("unshare"), std::string_view("vi"),
    std::string_view("vim"), std::string_view("watch"),   std::string_view("wish"),    std::string_view("xargs"),
    std::string_view("yash"), std::string_view("zsh"),
};
static_assert(std::is_sorted(kInterpreters.begin(), kInterpreters.end()));

constexpr std::string_view kVersionCharacters = "0123456789.-";

bool known(std::string_view name) noexcept {
    return std::binary_search(kInterpreters.begin(), kInterpreters.end(), name);
}

}  // namespace

bool is_interpreter(std::string_view name) noexcept {
    if (known(name)) return true;
    const std::size_t last = name.find_last_not_of(kVersionCharacters);
    return last != name.npos && known(name.substr(0, last + 1));
}

}  // namespace sandpipe
