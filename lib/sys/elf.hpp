#pragma once

#include <string>

namespace sandpipe::sys {

/// What the head of a file says about running it (elf(5), execve(2)).
struct ProgramFacts {
    bool is_elf = false;
    bool is_script = false;
    /// An ELF file that is made to be started, not to be loaded into another program.
    bool is_program = false;
    std::string interpreter;  ///< the dynamic loader, or what follows "#!"; empty: none
};

/// Reads at most 128 KiB of `file`, wherever its offset stands. What is damaged, or of a foreign class,
/// counts as a program: nobody can load it either.
[[nodiscard]] ProgramFacts read_program_facts(int file);

}  // namespace sandpipe::sys
