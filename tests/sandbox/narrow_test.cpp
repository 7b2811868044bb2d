#include <gmock/gmock.h>
#include <sandpipe/error.hpp>
#include <sandpipe/runtime.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <stdlib.h>

#include <filesystem>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Commands of a session make links in its root `c`, which is not the workspace, before the host narrows the session.
/// `o` is what nobody granted.
class Narrow : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        host("mkdir priv c/.git c/.git/hooks c/real; echo PRIVATE > priv/key; echo r > c/r");
        ignore_below("c");
    }
    /// Writes `c`, cannot read `priv`, but whatever c/r is.
    SandboxPolicy lifting() const {
        SandboxPolicy policy = writable({at("c")});
        policy.filesystem.deny_read = {at("priv")};
        policy.filesystem.allow_read = {at("c/r")};
        return policy;
    }
    std::string reads(Session& session) const {
        return session.sh("cat " + at("priv/key") + " " + at("c/r") + " 2>/dev/null").out;
    }
    /// Goes on to exchange `x`, a directory, and `l` until it is stopped, and leaves each there for a while.
    static BinaryInvocation exchange(const std::string& directory) {
        return Session::python_command(
                   "import ctypes, random, sys, time\n"
                   "swap = ctypes.CDLL(None).renameat2\n"
                   "print('goes', flush=True)\n"
                   "while swap(-100, b'x', -100, b'l', 2) == 0: time.sleep(random.choice((0, 0.0002, 0.002)))\n"
                   "sys.exit('the exchange is refused')")
            .cwd(directory);
    }
};

TEST_F(Narrow, ALinkThatACommandMadeLiftsNoDenial) {
    Session wide = open(lifting());
    EXPECT_EQ(reads(wide), "r\n");
    ASSERT_EQ(wide.sh("cd " + at("c") + " && rm r && ln -s ../priv/key r").code(), 0);
    EXPECT_EQ(reads(wide), "");
    SandboxPolicy without_roots = lifting();
    without_roots.filesystem.allow_write.clear();
    SandboxPolicy smaller_root = lifting();
    smaller_root.filesystem.allow_write = {at("c/dir")};
    for (const SandboxPolicy& policy : {SandboxPolicy(), without_roots, smaller_root, lifting()}) {
        Session narrower = narrow(wide, policy);
        EXPECT_EQ(reads(narrower), "");
        Session again = narrow(narrower, SandboxPolicy());
        EXPECT_EQ(reads(again), "") << "the roots of all that it comes from count";
    }
}

TEST_F(Narrow, AnExceptionStaysOne) {
    Session wide = open(lifting());
    Session narrower = narrow(wide, SandboxPolicy());
    EXPECT_EQ(reads(narrower), "r\n");
    EXPECT_THAT(narrower.warnings(), IsEmpty());
}

TEST_F(Narrow, ACommandOfOneSessionDoesNotRunInTheOther) {
    Session wide = open(lifting());
    Session narrower = narrow(wide, SandboxPolicy());
    const auto code_of = [](Session& runs, const Session& of) {
        try {
            return runs.run(of.shell("exit 3")).code() == 3 ? Errc{} : Errc::sandbox_failed;
        } catch (const Error& error) {
            return error.errc();
        }
    };
    EXPECT_EQ(code_of(wide, narrower), Errc::sandbox_policy_conflict);
    EXPECT_EQ(code_of(narrower, wide), Errc::sandbox_policy_conflict);
    EXPECT_EQ(code_of(wide, wide), Errc{});
    EXPECT_EQ(code_of(narrower, narrower), Errc{});
}

TEST_F(Narrow, WhatTheSessionHadNotWhenItStartedIsNotGranted) {
    SandboxPolicy policy = writable({at("c"), at("o/later")});
    policy.filesystem.deny_read = {at("priv")};
    policy.filesystem.allow_read = {at("priv/later")};
    policy.filesystem.missing_allow_write = MissingAllowWrite::skip;
    Session wide = open(policy);
    host("echo later > priv/later; mkdir o/later");
    seal();
    Session narrower = narrow(wide, policy);
    for (Session* session : {&wide, &narrower}) {
        EXPECT_EQ(session->sh("cat " + at("priv/later")).out, "");
        EXPECT_NE(session->sh("touch " + at("o/later/x")).code(), 0);
    }
    EXPECT_THAT(narrower.warnings(), ::testing::Contains(HasSubstr("the session that this one comes from has not")));
}

TEST_F(Narrow, NoStandardStreamIsOpenedByALinkOfTheWiderSession) {
    Session wide = open(writable({at("c")}));
    ASSERT_EQ(wide.sh("ln -s ../o/file " + at("c/log") + "; ln -s real/log " + at("c/inside")).code(), 0);
    Session narrower = narrow(wide, SandboxPolicy());
    for (Session* session : {&wide, &narrower}) {
        const Ran ran = session->run(session->shell("echo owned").out(Output::file(at("c/log"), FileMode::truncate)));
        ASSERT_TRUE(std::holds_alternative<NotStarted>(ran.result.status));
        EXPECT_EQ(std::get<NotStarted>(ran.result.status).error.value(), ELOOP);
    }
    const auto say = [&](Session& session) {
        return session.run(session.shell("echo said").out(Output::file(at("c/inside"), FileMode::truncate))).code();
    };
    EXPECT_EQ(say(wide), 0);
}

TEST_F(Narrow, TheWorkspaceIsNoLinkOfACommand) {
    SandboxPolicy above = writable({at(".")});
    ignore_below("w");
    ignore_below("w2");
    Session wide = open(above);
    ASSERT_EQ(wide.run(wide.shell("mv w w2 && ln -s o w").cwd(at("."))).code(), 0);
    EXPECT_THROW((void)narrow(wide, SandboxPolicy()), Error);
    SandboxPolicy other = writable({at("c"), "."});
    host("rm w; ln -s ../o c/w; ln -s c/w w");
    EXPECT_THAT(refusal(other), HasSubstr("the link " + at("c/w") + ", which a command may have made"));
    host("rm w c/w; mv w2 w");
    EXPECT_EQ(refusal(other), "");
}

TEST_F(Narrow, ExchangedWhileItIsJudged) {
    for (const char* target : {"../o", ".git/hooks", "../w"}) {
        host("rm -rf c/x c/l; mkdir c/x; ln -s " + std::string(target) + " c/l");
        Session wide = open(writable({at("c")}));
        Running flips = wide.start(exchange(at("c")));
        flips.await_output("goes\n");
        for (int i = 0; i < rounds(60); ++i) {
            try {
                Session narrower = narrow(wide, writable({at("c/x")}));
                (void)narrower.sh("cd " + at("c") + " && touch ../o/won ../w/won .git/hooks/won");
                narrower.close();
            } catch (const Error& error) {
                EXPECT_NE(error.errc(), Errc::sandbox_not_initialized) << error.what();
            }
        }
        flips.stop();
        EXPECT_NE(flips.finish().result.cause, Cause::finished) << "it did not exchange anything";
        EXPECT_FALSE(std::filesystem::exists(at("c/.git/hooks/won"))) << target;
        host("cd c; if [ -h x ]; then rm x; mv -T l x; else rm l; fi");
        Session granted = narrow(wide, writable({at("c/x")}));
        EXPECT_EQ(granted.sh("touch " + at("c/x/own")).code(), 0) << "nobody exchanges it";
        granted.close();
        wide.close();
    }
}

TEST_F(Narrow, ExchangedWhileItsReadingIsJudged) {
    host("rm -rf c/x c/l; mkdir c/x; ln -s ../priv c/l");
    SandboxPolicy policy = lifting();
    policy.filesystem.allow_read = {at("c/x")};
    Session wide = open(policy);
    Running flips = wide.start(exchange(at("c")));
    flips.await_output("goes\n");
    policy.filesystem.allow_write.clear();
    for (int i = 0; i < rounds(60); ++i) {
        try {
            Session narrower = narrow(wide, i % 2 == 0 ? policy : SandboxPolicy());
            EXPECT_EQ(narrower.sh("cat " + at("priv/key")).out, "");
            narrower.close();
        } catch (const Error& error) {
            EXPECT_NE(error.errc(), Errc::sandbox_not_initialized) << error.what();
        }
    }
    flips.stop();
    EXPECT_NE(flips.finish().result.cause, Cause::finished) << "it did not exchange anything";
}

TEST_F(Narrow, TheHomeIsThatOfTheRuntime) {
    const char* const variable = ::getenv("HOME");
    const std::string before = variable ? variable : "";
    ::setenv("HOME", at("c").c_str(), 1);
    restart();
    Session wide = open(writable({"~/dir"}));
    ::setenv("HOME", at("o").c_str(), 1);
    EXPECT_THROW((void)narrow(wide, writable({at("o/dir")})), Error);
    Session narrower = narrow(wide, writable({"~/dir"}));
    ::setenv("HOME", before.c_str(), 1);
    EXPECT_EQ(narrower.sh("touch " + at("c/dir/x")).code(), 0);
    EXPECT_NE(narrower.sh("touch " + at("o/dir/x")).code(), 0);
}

/// The same for two sessions of one policy, one after the other.
class NextSession : public Narrow {};

TEST_F(NextSession, ALinkInARootLiftsNoDenialInThatRoot) {
    host("mkdir w/secrets w/secrets/d w/src; echo KEY > w/secrets/key; echo DEEP > w/secrets/d/k; echo r > w/r;"
         "echo KEY > w/.env; echo x > w/.env.example; chmod 777 w/secrets w/src");
    ignore_below("w");
    struct Case {
        std::vector<PathPattern> denied;
        PathPattern allowed;
        std::string plant;
        std::string place;
    };
    for (const Case& each : {Case{{"secrets"}, "r", "rm r; ln -s secrets/key r", "secrets/key"},
                             Case{{"secrets"}, "src", "mv src src2; ln -s secrets/d src", "secrets/d/k"},
                             Case{{"secrets"}, "pub", "ln -s secrets pub", "secrets/key"},
                             Case{{"secrets"}, "globbed/*", "ln -s secrets globbed", "secrets/key"},
                             Case{{"**/secrets"}, "pub3", "ln -s secrets pub3", "secrets/key"},
                             Case{{"**/.env"}, ".env.example", "rm -f .env.example; ln -s .env .env.example", ".env"}}) {
        SandboxPolicy policy = writable();
        policy.filesystem.deny_read = each.denied;
        policy.filesystem.allow_read = {each.allowed};
        Session first = open(policy);
        (void)first.sh(each.plant);
        first.close();
        Session next = open(policy);
        EXPECT_EQ(next.sh("cat " + each.place).out, "") << each.plant;
        next.close();
        for (const char* name : {"secrets/key", "secrets/d", ".env"}) policy.filesystem.allow_read.emplace_back(name);
        Session by_name = open(policy);
        EXPECT_NE(by_name.sh("cat " + each.place).out, "") << "by its own name";
        by_name.close();
    }
}

TEST_F(NextSession, ALinkToWhatIsNotDeniedIsNoMatter) {
    host("ln -s dir w/way");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {at("priv")};
    policy.filesystem.allow_read = {"way"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("cat way/inner").code(), 0);
    EXPECT_THAT(session.warnings(), Not(::testing::Contains(HasSubstr("by the link"))));
}

}  // namespace
}  // namespace sandpipe::testing
