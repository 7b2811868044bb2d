#include <sandpipe/explain.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

// Seconds. What they cost is printed, and measured where nothing else runs.
constexpr double kFarTooLong = 120;
#ifdef __SANITIZE_ADDRESS__
constexpr int kManyFiles = 10'000;  // the test's own look at the tree takes minutes otherwise
constexpr int kManyMatches = 2'000;
#else
constexpr int kManyFiles = 100'000;
constexpr int kManyMatches = 20'000;
#endif

class Globs : public SandboxTest {
  protected:
    SandboxPolicy policy(std::vector<PathPattern> deny_read, std::vector<PathPattern> deny_write,
                         std::vector<PathPattern> allow_read = {}) {
        SandboxPolicy made = writable({".", "../c"});
        made.filesystem.deny_read = std::move(deny_read);
        made.filesystem.deny_write = std::move(deny_write);
        made.filesystem.allow_read = std::move(allow_read);
        return made;
    }
    /// Seconds from the start of a command to its end, the median of ten.
    double usual_time(Session& session) {
        std::vector<double> each;
        for (int i = 0; i < 10; ++i) {
            const auto start = std::chrono::steady_clock::now();
            EXPECT_EQ(session.sh("true").code(), 0);
            each.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        std::sort(each.begin(), each.end());
        return each[each.size() / 2];
    }
    /// `count` files d0/f0.pem, d0/f1.pem, ... in at most `directories` directories, and others beside them.
    void make_files(const std::string& place, int count, int directories, const std::string& suffix) {
        for (int i = 0; i < count; ++i) {
            const std::string directory = at(place) + "/d" + std::to_string(i % directories);
            if (i < directories) std::filesystem::create_directories(directory);
            std::ofstream(directory + "/f" + std::to_string(i) + suffix) << i;
        }
    }
};

TEST_F(Globs, WhatExistsCannotBeReadWhateverItsDepth) {
    host(
        "for t in w c; do mkdir -p $t/d/e; for f in a.pem .pem d/b.pem d/e/.c.pem; do echo x > $t/$f; done; "
        "done");
    ignore_below("c");
    Session session = open(policy({"**/*.pem"}, {}));
    for (const char* file : {"a.pem", ".pem", "d/b.pem", "d/e/.c.pem"})
        expect_twins(session, "EACCES", at("w"), at("c"), {std::string("read @/") + file});
    expect_acts(session, "ok", at("w"), {"read @/file", "list @/d/e"});
}

TEST_F(Globs, EverySpellingIsTheSamePlace) {
    host("mkdir w/d; echo x > w/d/a.pem; echo x > w/d/a.txt; ln -s d w/l; ln -s d/a.pem w/to");
    Session session = open(policy({at("w") + "//./**/*.pem"}, {}));
    for (const std::string name : {"a.pem", "a.txt"})
        expect_acts(
            session, name == "a.pem" ? "EACCES" : "ok", at("w"),
            {"read @/d/" + name, "read @//d/../d/./" + name, "read @/l/" + name, "read d/" + name,
             "read /proc/self/cwd/d/" + name, "read /proc/self/root@/d/" + name, "read_below @/d " + name});
    expect_acts(session, "EACCES", at("w"), {"read @/to"});
}

TEST_F(Globs, WhatComesLaterIsRefused) {
    ignore_below("c");
    Session session = open(policy({"**/*.pem"}, {"**/*.key", "conf/*"}));
    expect_twins(session, "EACCES", at("w"), at("c"),
                 {"create @/new.pem", "create @/.key", "mkdir @/d.key", "symlink x @/l.pem", "fifo @/p.key",
                  "rename @/two @/moved.key", "link @/file @/linked.pem", "node @/n.pem"});
    const Ran ran = session.sh("mkdir d; echo x > d/a.key");
    EXPECT_EQ(ran.denied(), std::vector<std::string>{"open " + at("w/d/a.key") + " EACCES"});
    EXPECT_EQ(ran.result.denials[0].rule, "denyWrite **/*.key");
    expect_acts(session, "ok", at("w"), {"create @/d/key", "create @/d/a.key2", "mkdir @/conf"});
    expect_acts(session, "EACCES", at("w"), {"create @/conf/x", "mkdir @/conf/d"});
    expect_changes({"+ w/conf", "+ w/d", "+ w/d/a.key2", "+ w/d/key"});
}

TEST_F(Globs, ADirectoryBringsNoDeniedNames) {
    ignore_below("c");
    host("mkdir -p w/a/s/t w/b w/c1; touch w/a/s/t/x.conf w/b/harmless");
    Session session = open(policy({}, {"etc/**/*.conf", "*/s/y"}));
    expect_acts(session, "EACCES", at("w"), {"rename @/a @/etc", "rename @/a/s/t @/etc"});
    expect_acts(session, "ok", at("w"), {"rename @/b @/etc", "rename @/a/s/t @/a/s/t2"});
    expect_acts(session, "EACCES", at("w"), {"rename @/a/s/t2 @/etc/t", "exchange @/a/s/t2 @/etc"});
    expect_changes({"- w/a/s/t", "- w/a/s/t/x.conf", "+ w/a/s/t2", "+ w/a/s/t2/x.conf", "- w/b",
                    "- w/b/harmless", "+ w/etc", "+ w/etc/harmless"});
}

TEST_F(Globs, WhatIsAllowedByNameMayMoveWithItsDirectory) {
    host("mkdir w/d w/e; echo x > w/d/a.key; echo x > w/e/b.key");
    Session session = open(policy({"d/*.key", "e/*.key"}, {}, {"d/a.key"}));
    expect_acts(session, "EACCES", at("w"), {"rename @/e @/g"});
    expect_acts(session, "ok", at("w"), {"rename @/d @/g", "rename @/g @/d", "read @/d/a.key"});
}

/// What the host makes while a session runs has no rule of its own there, nor a mount before the next command.
TEST_F(Globs, WhatComesLaterIsNotMovedAway) {
    ignore_below("w");
    host("mkdir -p w/a/keys w/free w/b/keys");
    Session session = open(policy({"b/keys/*.key"}, {"a/keys/*.key"}));
    const std::vector<std::string> away{"rename @/a @/a2", "rename @/a/keys @/a/k2", "exchange @/a @/free",
                                        "rename @/b @/b2", "exchange @/free @/b/keys"};
    expect_acts(session, "ok", at("w"),
                {"rename @/a @/a2", "rename @/a2 @/a", "rename @/b/keys @/b/k", "rename @/b/k @/b/keys"});
    Running running = session.start(
        session.shell("echo ready; read x; mv a a2; mv a/keys k2; mv b b2; ls -d a2 k2 b2").input(Input::stream()));
    running.await_output("ready");
    host("echo secret > w/a/keys/x.key; echo secret > w/b/keys/x.key");
    running.write("go\n");
    EXPECT_EQ(running.finish().out, "ready\n");
    expect_acts(session, "EACCES", at("w"), away);
    host("rm w/a/keys/x.key w/b/keys/x.key");
    expect_acts(session, "ok", at("w"), {"rename @/a @/a2", "rename @/b @/b2"});
}

TEST_F(Globs, WhatExistsCannotBeChangedNorMovedAway) {
    host("for t in w c; do mkdir -p $t/d; echo x > $t/d/a.key; mkdir $t/d/k.key; done");
    ignore_below("c");
    Session session = open(policy({}, {"**/*.key"}));
    expect_twins(
        session, "EACCES|EROFS|EBUSY|EXDEV", at("w"), at("c"),
        {"write @/d/a.key", "append @/d/a.key", "cut @/d/a.key", "chmod @/d/a.key", "utimes @/d/a.key",
         "truncate @/d/a.key", "create @/d/k.key/x", "unlink @/d/a.key", "rename @/d @/e"});
    expect_acts(session, "ok", at("w"),
                {"read @/d/a.key", "list @/d/k.key", "create @/d/other", "unlink @/d/other"});
}

TEST_F(Globs, OnlyALiteralAllowLiftsAGlobInBothOrders) {
    host(
        "mkdir w/certs w/secrets w/secrets/pub; for f in certs/a certs/b secrets/x secrets/pub/y; do echo x "
        "> w/$f.pem; done");
    for (const bool reversed : {false, true}) {
        std::vector<PathPattern> deny{"**/*.pem", "secret*"};
        std::vector<PathPattern> allow{"certs", "certs/a.pem", "secrets/pub", "**/b.pem"};
        if (reversed) std::reverse(deny.begin(), deny.end()), std::reverse(allow.begin(), allow.end());
        Session session = open(policy(deny, {}, allow));
        expect_acts(session, "ok", at("w"), {"read @/certs/a.pem", "list @/secrets/pub", "list @/certs"});
        expect_acts(session, "EACCES", at("w"),
                    {"read @/certs/b.pem", "list @/secrets", "read @/secrets/pub/y.pem"});
        expect_acts(session, "EACCES|ENOENT", at("w"), {"read @/secrets/x.pem"});
    }
}

TEST_F(Globs, WhatASessionHasOfItsOwnIsNoMatter) {
    const SandboxPolicy denying = policy({"/pro?", "/[dp]*/self", "/[dp]*/status"}, {"/d?v", "/d*/null"});
    Session session = open(denying);
    expect_acts(session, "ok", at("w"),
                {"read /proc/self/status", "write /dev/null", "read /dev/zero", "create @/new"});
    expect_changes({"+ w/new"});
    const Explainer explainer(denying, at("w"));
    EXPECT_TRUE(explainer.explain(ExplainedAct::read, "/proc/self/status").allowed);
    EXPECT_TRUE(explainer.explain(ExplainedAct::write, "/dev/null").allowed);
}

TEST_F(Globs, ALinkOfThatNameProtectsWhatItLeadsTo) {
    host(
        "echo x > o/real; ln -s ../o/real w/x.pem; mkdir o/tree; echo x > o/tree/k.pem; ln -s ../o/tree w/t");
    Session session = open(policy({"**/*.pem"}, {}));
    expect_acts(session, "EACCES", at("o"), {"read @/real", "read @/../w/x.pem"});
    // Globs do not look through links to directories.
    expect_acts(session, "ok", at("o"), {"read @/tree/k.pem"});
    expect_acts(session, "EACCES|EBUSY|EROFS", at("w"), {"unlink @/x.pem", "rename @/two @/x.pem"});
}

TEST_F(Globs, AnAllowThatNamesWhatAMatchedLinkLeadsToLiftsIt) {
    host("ln -s ../o/dir w/l.key; ln -s ../o/file w/m.key");
    Session session = open(policy({"*.key"}, {}, {"../o/dir"}));
    EXPECT_EQ(session.sh("cat l.key/inner; cat ../o/dir/inner; cat m.key; cat ../o/file").out,
              "content of /dir/inner\ncontent of /dir/inner\n");
    EXPECT_NE(session.sh("rm l.key").code(), 0);
}

TEST_F(Globs, GrantsAreAboutWhatExists) {
    host("mkdir w/build-1 w/build-2 w/other 'w/[WIP]'; touch w/note-1");
    Session session = open(writable({"build-*", "note-?", "[WIP]"}));
    expect_acts(session, "ok", at("w"),
                {"create @/build-1/f", "create @/build-2/f", "write @/note-1", "create @/[WIP]/f"});
    expect_acts(session, "EROFS", at("w"), {"create @/other/f", "mkdir @/build-3", "create @/f"});
    EXPECT_NE(refusal(writable({"none-*"})).find("\"none-*\" matches nothing"), std::string::npos);
    expect_changes({"+ w/[WIP]/f", "+ w/build-1/f", "+ w/build-2/f"});
}

TEST_F(Globs, WhatTheHostReplacesStaysCovered) {
    host("echo old > w/a.pem; echo old > w/b.key");
    Session session = open(policy({"**/*.pem"}, {"*.key"}));
    EXPECT_EQ(session.sh("true").code(), 0);
    host("echo new > w/t; mv w/t w/a.pem; echo new > w/t; mv w/t w/b.key; echo new > w/later.pem");
    expect_acts(session, "EACCES", at("w"), {"read @/a.pem"});
    expect_acts(session, "EACCES|EROFS", at("w"), {"write @/b.key", "chmod @/b.key"});
    EXPECT_EQ(session.sh("cat b.key").out, "new\n");
    expect_acts(session, "EACCES", at("w"), {"read @/later.pem"});
    host("mkdir -p w/new/deep; echo new > w/new/deep/x.pem");
    expect_acts(session, "EACCES", at("w"), {"read @/new/deep/x.pem"});
    expect_changes(
        {"~ w/a.pem", "~ w/b.key", "+ w/later.pem", "+ w/new", "+ w/new/deep", "+ w/new/deep/x.pem"});
}

TEST_F(Globs, TwentyThousandMatchesStartAndAreAllDenied) {
    make_files("w", kManyMatches, 40, ".pem");
    const auto begin = std::chrono::steady_clock::now();
    Session session = open(policy({"**/*.pem"}, {}));
    EXPECT_EQ(session.sh("true").code(), 0);
    const std::chrono::duration<double> first = std::chrono::steady_clock::now() - begin;
    const Ran ran = session.sh("cat d*/*.pem 2>/dev/null | wc -c; ls d*/*.pem | wc -l");
    EXPECT_EQ(ran.out, "0\n" + std::to_string(kManyMatches) + "\n");
    std::printf("%d matches: %.2f s until the first command's end, then %.4f s\n", kManyMatches,
                first.count(), usual_time(session));
    EXPECT_LT(first.count(), kFarTooLong);
}

TEST_F(Globs, TwentyThousandWriteProtectedFilesToo) {
    make_files("w", kManyMatches, 40, ".key");
    const auto begin = std::chrono::steady_clock::now();
    Session session = open(policy({}, {"**/*.key"}));
    const Ran ran = session.sh("for f in d*/*.key; do [ -w $f ] && echo $f; done | wc -l");
    const std::chrono::duration<double> first = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(ran.out, "0\n");
    std::printf("%d write-protected files: %.2f s until the first command's end\n", kManyMatches, first.count());
    EXPECT_LT(first.count(), kFarTooLong);
}

TEST_F(Globs, AHundredThousandFilesCostNothingForEachCommand) {
    make_files("w", kManyFiles, 1000, ".txt");
    host("echo x > w/d7/.env; echo x > w/.env");
    const auto begin = std::chrono::steady_clock::now();
    Session session = open(policy({"**/.env"}, {}));
    EXPECT_EQ(session.sh("true").code(), 0);
    const std::chrono::duration<double> first = std::chrono::steady_clock::now() - begin;
    const double usual = usual_time(session);
    std::printf("%d files: first %.3f s, then %.4f s\n", kManyFiles, first.count(), usual);
    EXPECT_LT(first.count(), kFarTooLong);
    EXPECT_LT(usual, 1.0) << "a search for each command";
    expect_acts(session, "EACCES", at("w"), {"read @/.env", "read @/d7/.env"});
}

// A match protects all that is in it, and a link in there is one of these things: what it leads to is not meant.
TEST_F(Globs, ALinkInsideAMatchIsNoMatchOfItsOwn) {
    host("mkdir -p w/x.key; ln -s ../file w/x.key/y.key; ln -s two w/z.key");
    ignore_below("w");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"**/*.key"};
    Session session = open(policy);
    EXPECT_EQ(act(session, at("w"), {"append @/file", "append @/two", "unlink @/x.key/y.key"}),
              (std::vector<std::string>{"ok", "EACCES", "EACCES"}));
    const Explainer explainer(policy, at("w"));
    EXPECT_TRUE(explainer.explain(ExplainedAct::write, "file").allowed);
    EXPECT_FALSE(explainer.explain(ExplainedAct::write, "two").allowed);
}

}  // namespace
}  // namespace sandpipe::testing
