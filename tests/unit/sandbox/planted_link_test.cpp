#include "sandbox/policy/planted_link.hpp"

#include <gmock/gmock.h>
#include <sandpipe/error.hpp>

#include <string>

#include "fake_path_facts.hpp"
#include "sandbox/policy/compile.hpp"

namespace sandpipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// An earlier command made links of names that are granted now.
class PlantedLink : public ::testing::Test {
  protected:
    PlantedLink() {
        facts_.directory("/etc/dir").file("/etc/sock").file("/etc/prog").directory("/w/dir").directory("/data/cache");
        facts_.link("/w/out", "/etc/dir")
            .link("/w/in", "dir")
            .link("/w/sock", "/etc/sock")
            .link("/w/prog", "/etc/prog");
        facts_.link("/home/u/cache", "/data/cache").link("/tmp/out", "/etc/dir");
    }
    CompiledPolicy compiled() const { return compile(policy_, "/w", "/home/u", facts_); }
    std::string refusal() const {
        try {
            (void)compiled();
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }
    test::FakePathFacts facts_;
    SandboxPolicy policy_;
};

TEST_F(PlantedLink, LeadsOutOfTheTreeThatItStandsIn) {
    const auto find = [&](const char* path) { return planted_link(resolve_path(path, facts_), {"/w", "/tmp"}); };
    EXPECT_EQ(find("/w/out"), "/w/out");
    EXPECT_EQ(find("/w/out/below"), "/w/out");
    EXPECT_EQ(find("/w/dir/../out"), "/w/out");
    EXPECT_EQ(find("/w/in/../../etc"), "/w/in") << "where .. leads is the link's matter";
    EXPECT_EQ(find("/tmp/out"), "/tmp/out");
    for (const char* path : {"/w/in", "/w/dir", "/home/u/cache", "/etc/dir"}) EXPECT_EQ(find(path), "") << path;
}

TEST_F(PlantedLink, IsNoWritableRoot) {
    for (const char* path : {"out", "/w/out", "/tmp/out"}) {
        policy_.filesystem.allow_write = {path};
        EXPECT_THAT(refusal(), HasSubstr("grant /etc/dir by its own name")) << path;
    }
    policy_.filesystem.missing_allow_write = MissingAllowWrite::skip;
    EXPECT_FALSE(compiled().plan.rules.write("/etc/dir").allowed);
    EXPECT_THAT(compiled().warnings, ElementsAre(HasSubstr("by the link /tmp/out, which a command may have made")));
    policy_.filesystem.allow_write = {"in", "~/cache", "/etc/dir"};
    for (const char* place : {"/w/dir", "/data/cache", "/etc/dir"})
        EXPECT_TRUE(compiled().plan.rules.write(place).allowed) << place;
}

TEST_F(PlantedLink, InAnyOtherRootIsOneToo) {
    facts_.directory("/mnt/proj").link("/mnt/proj/out", "/etc/dir");
    for (const std::vector<PathPattern>& roots : {std::vector<PathPattern>{"/mnt/proj", "/mnt/proj/out"},
                                                  std::vector<PathPattern>{"/mnt/proj/out", "/mnt/proj"}}) {
        policy_.filesystem.allow_write = roots;
        EXPECT_THAT(refusal(), HasSubstr("grant /etc/dir by its own name"));
    }
}

TEST_F(PlantedLink, GrantsNoReadingNorExecutionNorSocket) {
    policy_.filesystem.deny_read = {"/etc"};
    policy_.filesystem.allow_read = {"out"};
    policy_.filesystem.restrict_execute = true;
    policy_.filesystem.allow_execute = {"prog"};
    policy_.network.allow_unix_sockets = {"sock", "/etc/sock"};
    const CompiledPolicy result = compiled();
    EXPECT_FALSE(result.plan.rules.read("/etc/dir").allowed);
    EXPECT_FALSE(result.plan.rules.execute("/etc/prog").allowed);
    EXPECT_THAT(result.plan.unix_sockets, ElementsAre("/etc/sock"));
    EXPECT_THAT(result.warnings, ::testing::IsSupersetOf({HasSubstr("filesystem.allowRead[0]"),
                                                          HasSubstr("filesystem.allowExecute[0]"),
                                                          HasSubstr("network.allowUnixSockets[0]")}));
}

TEST_F(PlantedLink, InsideItsTreeItLiftsNothingEither) {
    facts_.file("/w/secret/key").file("/w/plain").link("/w/key", "secret/key").link("/w/also", "plain");
    facts_.file("/w/run/sock").link("/w/now", "run");
    policy_.filesystem.deny_read = {"secret"};
    policy_.filesystem.allow_read = {"key", "also"};
    policy_.network.allow_unix_sockets = {"now/sock"};
    const CompiledPolicy result = compiled();
    EXPECT_FALSE(result.plan.rules.read("/w/secret/key").allowed);
    EXPECT_THAT(result.plan.unix_sockets, ElementsAre("/w/run/sock")) << "no command writes there";
    EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("so denyRead secret prevails; grant /w/secret/key by its")));
    policy_.filesystem.allow_read.push_back("secret/key");
    EXPECT_TRUE(compiled().plan.rules.read("/w/secret/key").allowed);
    EXPECT_THAT(compiled().warnings, ::testing::IsEmpty()) << "it is granted by its own name as well";
    policy_.filesystem.allow_write = {"."};
    EXPECT_THAT(compiled().plan.unix_sockets, ::testing::IsEmpty());
    policy_.network.allow_unix_sockets = {"run/sock"};
    EXPECT_THAT(compiled().plan.unix_sockets, ElementsAre("/w/run/sock"));
}

TEST_F(PlantedLink, OfAWiderSessionIsOne) {
    facts_.directory("/mnt/proj").link("/mnt/proj/key", "/etc/prog");
    policy_.filesystem.allow_write = {"/mnt/proj"};
    policy_.filesystem.deny_read = {"/etc"};
    const CompiledPolicy wider = compiled();
    policy_.filesystem.allow_write.clear();
    policy_.filesystem.allow_read = {"/mnt/proj/key"};
    const CompiledPolicy narrower = compile(policy_, "/w", "/home/u", facts_, {}, &wider);
    EXPECT_FALSE(narrower.plan.rules.read("/etc/prog").allowed);
    EXPECT_THAT(narrower.warnings, ElementsAre(HasSubstr("by the link /mnt/proj/key, which a command may have made")));
    EXPECT_THAT(narrower.written, ElementsAre("/mnt/proj", "/w"));
    EXPECT_TRUE(compiled().plan.rules.read("/etc/prog").allowed) << "without a wider session it is the host's own link";
}

TEST_F(PlantedLink, ThatADenyingGlobMatchesIsWarnedOfWhereItTakesADirectoryAway) {
    facts_.directory("/srv/shared").file("/srv/shared/a");
    facts_.link("/w/x.env", "/srv/shared").link("/w/dir/y.env", "/srv/shared/a").link("/w/z.env", "dir");
    policy_.filesystem.allow_write = {"."};
    policy_.filesystem.deny_read = {"*.env", "*/*.env"};
    const CompiledPolicy made = compiled();
    for (const char* place : {"/srv/shared/a", "/srv/shared", "/w/dir"})
        EXPECT_FALSE(made.plan.rules.read(place).allowed) << place;
    EXPECT_THAT(made.warnings, ElementsAre("because of the link /w/x.env nothing in /srv/shared can be read: "
                                           "denyRead *.env; if a command made it, remove it"));
}

}  // namespace
}  // namespace sandpipe
