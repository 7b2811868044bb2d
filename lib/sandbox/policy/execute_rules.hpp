#pragma once

#include <string>
#include <vector>

#include "sandbox/policy/path_facts.hpp"
#include "wire/access_rules.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe {

/// A program's loader is part of running it: adds a rule for the loader of each ELF program that an
/// allow_execute rule holds. Warns of listed scripts whose interpreter is not listed, and of programs that
/// commands can overwrite. The other rules must be complete. Pure.
void allow_loaders(wire::AccessRules& rules, const PathFacts& facts, std::vector<std::string>& warnings);

/// Where execution is restricted, what commands can write cannot be executed, nor loaded into a program:
/// every writable mount that has nothing executable in it, and does not stand in what is, becomes noexec.
/// Pure.
void forbid_execution(const wire::AccessRules& rules, std::vector<wire::MountOp>& mounts);

}  // namespace sandpipe
