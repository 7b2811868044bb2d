#include "sandbox/policy/resolved_path.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fake_path_facts.hpp"

namespace sandpipe {
namespace {

using Names = std::vector<std::string>;

TEST(ResolvePath, LeadsWhereTheKernelGoes) {
    test::FakePathFacts facts;
    facts.file("/a/b/f")
        .link("/a/l", "b")
        .link("/a/abs", "/a/b/")
        .link("/a/up", "../w")
        .link("/a/two", "l/../l");
    facts.link("/a/gone", "missing/x")
        .link("/a/loop", "pool")
        .link("/a/pool", "loop")
        .unreachable("/a/secret");
    struct Case {
        const char* path;
        const char* place;
        PathKind kind;
        Names passed;
    };
    const std::vector<Case> cases{
        {"/", "/", PathKind::directory, {}},
        {"//a/./b//f", "/a/b/f", PathKind::file, {}},
        {"/a/b/", "/a/b", PathKind::directory, {}},
        {"/../../a", "/a", PathKind::directory, {}},
        {"/a/l/f", "/a/b/f", PathKind::file, {"/a/l"}},
        {"/a/abs/../l", "/a/b", PathKind::directory, {"/a/abs", "/a/l"}},
        {"/a/up/..", "/", PathKind::directory, {"/a/up"}},
        {"/a/two/f", "/a/b/f", PathKind::file, {"/a/l", "/a/two"}},
        {"/a/new/x/y", "/a/new/x/y", PathKind::missing, {}},
        {"/a/b/f/x", "/a/b/f/x", PathKind::missing, {}},
        {"/a/gone/y", "/a/missing/x/y", PathKind::missing, {"/a/gone"}},
        {"/a/new/x/../../b", "/a/b", PathKind::directory, {"/a/new"}},
        {"/a/b/f/../f", "/a/b/f", PathKind::file, {"/a/b/f"}},
        {"/a/secret/x", "/a/secret/x", PathKind::unreachable, {}},
        {"/a/loop/x", "/a/loop", PathKind::unreachable, {"/a/loop", "/a/pool"}},
    };
    for (const Case& c : cases) {
        const ResolvedPath path = resolve_path(c.path, facts);
        EXPECT_EQ(path.place, c.place) << c.path;
        EXPECT_EQ(static_cast<int>(path.fact.kind), static_cast<int>(c.kind)) << c.path;
        EXPECT_EQ(path.passed, c.passed) << c.path;
    }
    EXPECT_EQ(resolve_path("/a/loop", facts).fact.error, ELOOP);
    EXPECT_EQ(resolve_path("/a/secret", facts).fact.error, EACCES);
}

TEST(PathNames, ParentAndLast) {
    EXPECT_EQ(parent_path("/a/b"), "/a");
    EXPECT_EQ(parent_path("/a"), "/");
    EXPECT_EQ(parent_path("/"), "/");
    EXPECT_EQ(last_name("/a/b"), "b");
    EXPECT_EQ(last_name("/"), "");
    EXPECT_EQ(join_path("/", "a"), "/a");
    EXPECT_EQ(join_path("/a", "b/c"), "/a/b/c");
}

}  // namespace
}  // namespace sandpipe
