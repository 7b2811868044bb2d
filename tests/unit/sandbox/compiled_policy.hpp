#pragma once

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fake_path_facts.hpp"
#include "sandbox/policy/compile.hpp"
#include "simulated_mounts.hpp"
#include "support/mentions.hpp"
#include "wire/messages.hpp"

namespace sandpipe::test {

using wire::MountOp;
using wire::MountStep;
using Paths = std::vector<PathPattern>;

/// The policy of one case, in the order of the shorthand in the case tables.
struct Lists {
    Paths deny_read;
    Paths allow_read;
    Paths allow_write;
    Paths deny_write;
};

inline SandboxPolicy policy_of(const Lists& lists) {
    SandboxPolicy policy;
    policy.filesystem.deny_read = lists.deny_read;
    policy.filesystem.allow_read = lists.allow_read;
    policy.filesystem.allow_write = lists.allow_write;
    policy.filesystem.deny_write = lists.deny_write;
    return policy;
}

inline std::string text_of(const CompiledPolicy& compiled) {
    return wire::encode(wire::MakeCell{compiled.plan}) + "\n" +
           ::testing::PrintToString(compiled.create_directories);
}

/// Compiles, and checks on the way that the lists give the same plan in reverse.
inline CompiledPolicy compile_both_ways(SandboxPolicy policy, const FakePathFacts& facts,
                                 const std::string& workspace = "/w") {
    CompiledPolicy compiled = compile(policy, workspace, "/home/u", facts);
    FilesystemPolicy& lists = policy.filesystem;
    for (Paths* list : {&lists.deny_read, &lists.allow_read, &lists.allow_write, &lists.deny_write})
        std::reverse(list->begin(), list->end());
    std::reverse(lists.devices.begin(), lists.devices.end());
    EXPECT_EQ(text_of(compile(policy, workspace, "/home/u", facts)), text_of(compiled));
    return compiled;
}

inline CompiledPolicy compile_lists(const Lists& lists, const FakePathFacts& facts,
                             const std::string& workspace = "/w") {
    return compile_both_ways(policy_of(lists), facts, workspace);
}

inline Error error_of(const SandboxPolicy& policy, const FakePathFacts& facts, const std::string& workspace = "/w",
               const std::string& home = "/home/u") {
    try {
        (void)compile(policy, workspace, home, facts);
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return Error(Errc::sandbox_failed, "");
}

inline bool warns_of(const CompiledPolicy& compiled, const std::string& part) {
    return std::any_of(compiled.warnings.begin(), compiled.warnings.end(),
                       [&](const std::string& warning) { return mentions(warning, part); });
}

inline View view(const CompiledPolicy& compiled, const std::string& place) {
    return SimulatedMounts(compiled.plan.mounts).at(place);
}

inline std::vector<const MountOp*> mounts_at(const CompiledPolicy& compiled, const std::string& place) {
    std::vector<const MountOp*> found;
    for (const MountOp& op : compiled.plan.mounts)
        if (op.path == place) found.push_back(&op);
    return found;
}

constexpr View kReadOnly = View::host_read_only;
constexpr View kWritable = View::host_writable;
constexpr View kMasked = View::masked;
constexpr View kOwnTmp = View::own_tmp;

}  // namespace sandpipe::test
