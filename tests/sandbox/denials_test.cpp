#include <sandpipe/text_renderer.hpp>

#include <set>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Lines = std::vector<std::string>;

class Denials : public SandboxTest {
  protected:
    /// One act, in a session that denies writing to `file` and `new`.
    std::vector<Denial> denials_of(Session& session, const std::string& verb, const std::string& first,
                                   const std::string& second = {}) {
        std::vector<std::string> args{verb, first};
        if (!second.empty()) args.push_back(second);
        return session.attack("attack_act", args).result.denials;
    }
    SandboxPolicy denying() {
        SandboxPolicy policy = writable();
        policy.filesystem.deny_write = {"file", "new"};
        return policy;
    }
};

TEST_F(Denials, NamesNoMoreRootsThanCanBeRead) {
    host("cd w; for i in $(seq 70); do mkdir r$i; done");
    Session session = open(writable({"r*"}));
    const auto outside = denials_of(session, "create", "../o/made");
    ASSERT_EQ(outside.size(), 1u);
    EXPECT_EQ(outside[0].writable_roots.size(), 64u);
}

TEST_F(Denials, EachTellsTheWholeStory) {
    Session session = open(denying());
    const auto outside = denials_of(session, "create", "../o/dir/../made");
    ASSERT_EQ(outside.size(), 1u);
    EXPECT_EQ(outside[0].kind, DenialKind::write);
    EXPECT_EQ(outside[0].operation, "open");
    EXPECT_EQ(outside[0].path, "../o/dir/../made");
    EXPECT_EQ(outside[0].resolved, at("o/made"));
    EXPECT_EQ(outside[0].error, EROFS);
    EXPECT_EQ(outside[0].writable_roots, Lines{at("w")});
    EXPECT_GT(outside[0].pid, 1);
    EXPECT_EQ(outside[0].program, "attack_act");
    EXPECT_GT(outside[0].seq, 0u);
    EXPECT_FALSE(outside[0].probe);
    const auto ruled = denials_of(session, "write", "file");
    ASSERT_EQ(ruled.size(), 1u);
    EXPECT_EQ(ruled[0].error, EACCES);
    EXPECT_NE(ruled[0].rule.find("file"), std::string::npos);
    EXPECT_EQ(ruled[0].resolved, at("w/file"));
    const auto renamed = denials_of(session, "rename", "two", "new");
    ASSERT_EQ(renamed.size(), 1u);
    EXPECT_EQ(renamed[0].operation, "rename");
    EXPECT_EQ(renamed[0].path, "two");
    EXPECT_EQ(renamed[0].resolved, at("w/two"));
    EXPECT_EQ(renamed[0].second_path, "new");
    EXPECT_EQ(renamed[0].second_resolved, at("w/new"));
}

TEST_F(Denials, ALinkToBelowAHiddenDirectoryIsNoWayRound) {
    host("mkdir w/d w/d/s; echo secret | tee w/d/f >w/d/s/f; ln -s d/f w/lf; ln -s d/s/f w/lsf; ln -s d/s w/ls");
    ignore_below("w");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"d"};
    Session session = open(policy);
    const std::pair<const char*, const char*> kActs[] = {{"cat lf", "w/d/f"},     {"cat lsf", "w/d/s/f"},
                                                         {"cat ls/f", "w/d/s/f"}, {"cat d/s/f", "w/d/s/f"},
                                                         {"echo x >lf", "w/d/f"}, {"cat d/.", "w/d"}};
    for (const auto& [line, place] : kActs) {
        const Ran ran = session.sh(line);
        EXPECT_NE(ran.code(), 0) << line;
        ASSERT_EQ(ran.result.denials.size(), 1U) << line << ran.story;
        EXPECT_EQ(ran.result.denials[0].resolved, at(place)) << line;
    }
    EXPECT_TRUE(session.sh("cat d2/s; cat file; ln -s nowhere n; cat n").denied().empty());
}

TEST_F(Denials, ThePidIsTheOneInside) {
    Session session = open();
    const Ran ran = session.sh("echo $$; echo x > ../o/made");
    ASSERT_EQ(ran.result.denials.size(), 1u);
    EXPECT_EQ(std::to_string(ran.result.denials[0].pid) + "\n", ran.out);
}

TEST_F(Denials, OneForEachRefusedCall) {
    Session session = open(denying());
    const struct {
        const char* verb;
        const char* first;
        const char* second;
    } acts[] = {{"write", "file", ""},        {"append", "file", ""},         {"cut", "file", ""},
                {"overwrite", "new", ""},     {"mkdir", "new", ""},           {"symlink", "x", "new"},
                {"link", "two", "new"},       {"rename", "two", "new"},       {"unlink", "file", ""},
                {"truncate", "file", ""},     {"chmod", "file", ""},          {"chown", "file", ""},
                {"utimes", "file", ""},       {"setxattr", "file", ""},       {"fifo", "new", ""},
                {"exchange", "two", "file"},  {"openat2_create", "new", ""},  {"write_handle", "file", ""},
                {"create_below", ".", "new"}, {"write", "../o/file", ""},     {"rmdir", "../o/empty", ""},
                {"mkdir", "../o/x", ""},      {"link", "../o/file", "x"},     {"write", "/etc/passwd", ""},
                {"unlink", "../o/file", ""},  {"utimes_fd", "../o/file", ""}, {"readwrite", "../o/file", ""},
                {"create", "/usr/x", ""},     {"node", "../o/n", ""}};
    for (const auto& act : acts)
        EXPECT_EQ(denials_of(session, act.verb, act.first, act.second).size(), 1u)
            << act.verb << " " << act.first << " " << act.second;
}

TEST_F(Denials, NoneForWhatThePolicyDoesNotForbid) {
    host(
        "echo x > w/closed; chmod 000 w/closed; mkdir w/sealed; chmod 000 w/sealed; ln -s nowhere "
        "w/dangling; ln -s turn w/turn; mkfifo w/fifo");
    ignore_below("w");
    Session session = open(denying());
    const struct {
        const char* verb;
        const char* first;
        const char* second;
    } acts[] = {// plain permission errors: root has no capability either
                {"write", "closed", ""},
                {"read", "closed", ""},
                {"create", "sealed/x", ""},
                // missing files and wrong kinds
                {"write", "nothing", ""},
                {"write", "../o/nothing", ""},
                {"unlink", "../o/nothing", ""},
                {"rmdir", "../o/nothing", ""},
                {"rename", "../o/nothing", "x"},
                {"mkdir", "nothing/x", ""},
                {"create", "../o/nothing/x", ""},
                {"write", "turn", ""},
                {"create", "two", ""},
                {"mkdir", "dir", ""},
                {"mkdir", "../o/dir", ""},
                {"create", "../o/file", ""},
                {"rmdir", "dir", ""},
                {"unlink", "dir", ""},
                {"write", "dir", ""},
                {"write", "two/x", ""},
                {"chmod", "nothing", ""},
                {"truncate", "nothing", ""},
                {"link", "nothing", "x"},
                {"symlink", "x", "two"},
                {"unlink", "new", ""},
                {"mkdir", "/", ""},
                {"rmdir", "../o/empty/.", ""},
                // what works
                {"read", "file", ""},
                {"read", "../o/file", ""},
                {"list", "../o", ""},
                {"append", "two", ""},
                {"overwrite", "dangling", ""},
                {"create", "fresh", ""},
                {"write", "/dev/null", ""},
                {"create", "/dev/shm/x", ""},
                {"create", "/tmp/x", ""},
                {"exec", "/bin/true", ""},
                {"create_read", "../o/file", ""},
                {"chmod", "two", ""},
                {"rename", "two", "three"},
                {"mkdir", "newdir", ""}};
    for (const auto& act : acts) {
        const auto denials = denials_of(session, act.verb, act.first, act.second);
        EXPECT_TRUE(denials.empty()) << act.verb << " " << act.first << ": " << denials[0].operation << " "
                                     << denials[0].resolved << " " << denials[0].rule;
    }
    host("chmod 644 w/closed; chmod 755 w/sealed");
}

TEST_F(Denials, OneEventForOneTouch) {
    Session session = open();
    const Ran ran =
        session.sh("echo x > /dev/shm/f; touch mine; touch ../o/made; echo 'Permission denied: /etc/x' >&2");
    EXPECT_EQ(ran.denied(), Lines{"open " + at("o/made") + " EROFS"});
    EXPECT_TRUE(ran.result.denials_complete);
    expect_changes({"+ w/mine"});
}

TEST_F(Denials, WhatProgramsOnlyTryIsNotInTheText) {
    host("mkdir o/lib && echo 'print(1)' > o/lib/tried.py");
    Session session = open();
    const Ran ran = session.python("import sys\nsys.path.insert(0,'../o/lib')\nimport tried\nopen('../o/asked','w')");
    ASSERT_GE(ran.result.denials.size(), 2U) << ran.err;
    TextRenderer renderer{ran.result.marker};
    std::string text;
    for (const OutputEvent& event : ran.events) text += renderer.render(event);
    const Denial& last = ran.result.denials.back();
    EXPECT_FALSE(last.probe);
    EXPECT_NE(text.find(marker_line(ran.result.marker, last)), std::string::npos) << text;
    for (std::size_t i = 0; i + 1 < ran.result.denials.size(); ++i)
        EXPECT_TRUE(ran.result.denials[i].probe) << ran.result.denials[i].resolved;
    EXPECT_EQ(text.find("__pycache__"), std::string::npos) << text;
}

TEST_F(Denials, AFloodIsCountedAndFolded) {
    Session session = open();
    const Ran ran = session.attack("attack_refused", {at("o/made"), std::to_string(rounds(5000)), "flood"});
    std::uint64_t events = 0;
    std::uint64_t count = 0;
    for (const OutputEvent& event : ran.events)
        if (const auto* denial = std::get_if<Denial>(&event)) ++events, count += 1 + denial->folded;
    EXPECT_EQ(count, static_cast<std::uint64_t>(rounds(5000)));
    EXPECT_LE(events, 1001u);
    EXPECT_EQ(ran.result.denials.size(), events);
    EXPECT_EQ(ran.code(), 0);
}

TEST_F(Denials, AFloodByManyThreadsIsCountedToo) {
    Session session = open();
    const Ran ran = session.attack("attack_refused", {at("o/made"), std::to_string(rounds(100)), "threads"});
    std::uint64_t count = 0;
    for (const Denial& denial : ran.result.denials) count += 1 + denial.folded;
    EXPECT_EQ(count, 32u * static_cast<std::uint64_t>(rounds(100)));
}

TEST_F(Denials, ParallelCommandsGetOnlyTheirOwn) {
    Session session = open();
    for (int round = 0; round < 3; ++round) {
        Running first =
            session.start(command(test_program("attack_refused")).args(at("o/one"), "100", "quiet"));
        Running second =
            session.start(command(test_program("attack_refused")).args(at("o/other"), "100", "quiet"));
        const Ran ones = first.finish();
        const Ran others = second.finish();
        EXPECT_EQ(ones.denied(), Lines(100, "open " + at("o/one") + " EROFS"));
        EXPECT_EQ(others.denied(), Lines(100, "open " + at("o/other") + " EROFS"));
        EXPECT_NE(ones.result.marker, others.result.marker);
    }
}

TEST_F(Denials, TheMarkerIsNoSecretThatACommandCanFind) {
    Session session = open();
    std::set<std::string> markers;
    for (int i = 0; i < 20; ++i) {
        const Ran ran = session.sh(
            "env; cat /proc/self/cmdline /proc/1/cmdline /proc/self/comm; touch ../o/x; ls -R /tmp /dev");
        EXPECT_EQ(ran.result.marker.size(), 12u);
        EXPECT_EQ(ran.result.marker.find_first_not_of("0123456789abcdef"), std::string::npos);
        EXPECT_EQ((ran.out + ran.err).find(ran.result.marker), std::string::npos);
        markers.insert(ran.result.marker);
    }
    EXPECT_EQ(markers.size(), 20u);
}

TEST_F(Denials, PathsOfAnyBytes) {
    Session session = open();
    const Ran ran = session.python(
        "import os\nfor n in b'a\\nb',b'\\xff\\xfe',b'\"\\\\',b'x'*255,b'\\x1b[31m':\n"
        "  try: os.mkdir(b'../o/'+n)\n  except OSError as e: print(e.errno)\n");
    ASSERT_EQ(ran.result.denials.size(), 5u);
    EXPECT_EQ(ran.result.denials[0].resolved, at("o/a\nb"));
    EXPECT_EQ(ran.result.denials[1].path, "../o/\xff\xfe");
    EXPECT_EQ(ran.result.denials[3].resolved, at("o/" + std::string(255, 'x')));
}

}  // namespace
}  // namespace sandpipe::testing
