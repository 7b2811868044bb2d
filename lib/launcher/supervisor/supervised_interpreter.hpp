#pragma once

#include <string>

#include "launcher/paths/judge.hpp"
#include "launcher/paths/resolve.hpp"
#include "launcher/paths/supervised_caller.hpp"

namespace sandpipe::launcher {

/// What the rules say about an interpreter of a program, and which one that is.
struct InterpreterVerdict {
    Judgement judgement;
    std::string path;      ///< as the program names it
    std::string resolved;  ///< its place
};

/// A program may be started; the kernel then opens its loader, or starts the interpreter of a script in its place,
/// and that one's (execve(2)). `deny` where the rules forbid one of them; `proceed` otherwise, also where the program
/// cannot be started for another reason. `program` is a file that the rules allow.
[[nodiscard]] InterpreterVerdict judge_interpreters(const wire::AccessRules& rules, const Caller& caller,
                                                    const Spot& program);

}  // namespace sandpipe::launcher
