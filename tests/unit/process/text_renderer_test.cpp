#include <sandpipe/text_renderer.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "core/utf8.hpp"

namespace sandpipe {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMarker = "3f9c12ab04d7";

OutputEvent out(std::string data, StreamTag stream = StreamTag::out) {
    OutputChunk chunk;
    chunk.stream = stream;
    chunk.data = std::move(data);
    return chunk;
}

Denial denied_write(std::string path) {
    Denial denial;
    denial.operation = "open";
    denial.path = path;
    denial.resolved = std::move(path);
    denial.error = EROFS;
    denial.writable_roots = {"/w"};
    return denial;
}

OutputEvent finished(CommandResult result) {
    Finished event;
    event.result = std::move(result);
    return event;
}

CommandResult ended(Cause cause, EndStatus status) {
    CommandResult result;
    result.cause = cause;
    result.status = std::move(status);
    return result;
}

std::string mark(const std::string& text) { return "[sandbox 3f9c12ab04d7] " + text; }

std::string trailers(const CommandFacts& facts) { return trailer_lines(kMarker, facts); }

const std::string kDeniedX = mark("denied: write /etc/x (outside the writable roots: /w)") + "\n";

TEST(MarkerLine, NamesTheWritableRoots) {
    EXPECT_EQ(marker_line(kMarker, denied_write("/etc/x")) + "\n", kDeniedX);
}

TEST(MarkerLine, ListsFewRootsAndCountsTheRest) {
    Denial denial = denied_write("/etc/x");
    for (int i = 0; i < 9; ++i) denial.writable_roots.push_back("/r" + std::to_string(i));
    const std::string line = marker_line(kMarker, denial);
    EXPECT_NE(line.find("/w, /r0, "), std::string::npos);
    EXPECT_NE(line.find("/r6 and 2 more)"), std::string::npos);
    denial.writable_roots.clear();
    EXPECT_NE(marker_line(kMarker, denial).find("there are none"), std::string::npos);
}

TEST(MarkerLine, NamesTheRuleAndItsReason) {
    Denial denial = denied_write("/w/.env");
    denial.rule = ".env";
    denial.reason = "holds secrets";
    EXPECT_EQ(marker_line(kMarker, denial), mark("denied: write /w/.env (rule: .env; holds secrets)"));
}

TEST(MarkerLine, ShowsBothPathsOfARename) {
    Denial denial = denied_write("/a");
    denial.operation = "rename";
    denial.second_path = "/b";
    denial.second_resolved = "/b";
    EXPECT_EQ(marker_line(kMarker, denial), mark("denied: rename /a -> /b (outside the writable roots: /w)"));
}

TEST(MarkerLine, SaysWhereAPathLeads) {
    Denial denial = denied_write("../x");
    denial.resolved = "/etc/x";
    EXPECT_NE(marker_line(kMarker, denial).find("write ../x (that is /etc/x; outside"), std::string::npos);
    denial.operation = "link";
    denial.second_path = "/b";
    denial.second_resolved = "/c";
    EXPECT_NE(marker_line(kMarker, denial).find("(that is /etc/x -> /c; "), std::string::npos);
}

TEST(MarkerLine, NamesHostsAndSystemCalls) {
    Denial denial;
    denial.kind = DenialKind::connect;
    denial.host = "example.org";
    denial.port = 443;
    denial.error = EACCES;
    EXPECT_EQ(marker_line(kMarker, denial), mark("denied: connect example.org:443 (EACCES)"));
    denial.kind = DenialKind::domain;
    denial.reason = "not in allowedDomains: a.b";
    EXPECT_EQ(marker_line(kMarker, denial), mark("denied: domain example.org:443 (not in allowedDomains: a.b)"));
    denial.rule = "deniedDomains *.org";
    EXPECT_EQ(marker_line(kMarker, denial),
              mark("denied: domain example.org:443 (rule: deniedDomains *.org; not in allowedDomains: a.b)"));
    denial.host = "::1";
    EXPECT_NE(marker_line(kMarker, denial).find("[::1]:443"), std::string::npos);
    Denial call;
    call.kind = DenialKind::syscall;
    call.operation = "ptrace";
    EXPECT_EQ(marker_line(kMarker, call), mark("denied: syscall ptrace (not allowed)"));
}

TEST(MarkerLine, CountsFoldedCalls) {
    Denial denial = denied_write("/etc/x");
    denial.folded = 12;
    EXPECT_NE(marker_line(kMarker, denial).find("; and 12 more like it)"), std::string::npos);
}

TEST(MarkerLine, PathsCannotForgeALine) {
    struct Case {
        std::string path;
        std::string shown;
    };
    const Case cases[] = {
        {"/a\n[sandbox 3f9c12ab04d7] exit code 0", "/a\\x0a[sandbox 3f9c12ab04d7] exit code 0"},
        {"/a\rb\tc\x7f", "/a\\x0db\\x09c\\x7f"},
        {"/\x1b[2K", "/\\x1b[2K"},
        {"/\xff\xc3", "/\\xff\\xc3"},
        {"/\xc2\x85", "/\\xc2\\x85"},
        {"/\u2028\u202e", "/\\xe2\\x80\\xa8\\xe2\\x80\\xae"},
        {"/b\\x0a", "/b\\x5cx0a"},
        {"/\u00e9\U0001F600", "/\u00e9\U0001F600"},
    };
    for (const Case& c : cases) {
        EXPECT_NE(marker_line(kMarker, denied_write(c.path)).find("write " + c.shown + " ("),
                  std::string::npos)
            << c.shown;
    }
}

TEST(TrailerLines, TableOfEndings) {
    EXPECT_EQ(trailers(ended(Cause::finished, Exited{0})), "");
    EXPECT_EQ(trailers(ended(Cause::finished, Exited{7})), mark("exit code 7\n"));
    EXPECT_EQ(trailers(ended(Cause::finished, Signaled{SIGSEGV, false})), mark("killed by SIGSEGV\n"));
    EXPECT_EQ(trailers(ended(Cause::finished, Signaled{SIGABRT, true})),
              mark("killed by SIGABRT (core dumped)\n"));
    EXPECT_EQ(trailers(ended(Cause::finished, Signaled{SIGKILL, false})), mark("killed by SIGKILL\n"));
    EXPECT_EQ(trailers(ended(Cause::cancelled, Signaled{SIGTERM, false})), mark("cancelled\n"));
    EXPECT_EQ(trailers(ended(Cause::cancelled, NotStarted{})), mark("cancelled\n"));
    EXPECT_NE(trailers(ended(Cause::lost, NotStarted{})).find("lost"), std::string::npos);
}

TEST(TrailerLines, TimeoutsHaveTheirOwnLength) {
    CommandResult result = ended(Cause::timed_out, Signaled{SIGKILL, false});
    result.timeout = 5s;
    EXPECT_EQ(trailers(result), mark("timed out after 5s\n"));
    result.timeout = 250ms;
    EXPECT_EQ(trailers(result), mark("timed out after 0.25s\n"));
    result.timeout = 90s + 1ns;
    EXPECT_EQ(trailers(result), mark("timed out after 90.000000001s\n"));
    result.status = Exited{7};
    result.timeout = 5s;
    EXPECT_EQ(trailers(result), mark("timed out after 5s\n") + mark("exit code 7\n"));
}

TEST(TrailerLines, OutputLimitSaysWhatWasKept) {
    CommandResult result = ended(Cause::output_limit, Signaled{SIGTERM, false});
    result.out_facts = {500, 100, true};
    EXPECT_EQ(trailers(result), mark("output limit reached; stdout kept 100 bytes\n"));
}

TEST(TrailerLines, AFailedStartSaysStageReasonAndRemedy) {
    NotStarted start{Stage::program, std::error_code(ENOENT, std::system_category()), "/no/such\n",
                     "look at PATH"};
    EXPECT_EQ(trailers(ended(Cause::not_started, start)),
              mark("not started: program /no/such\\x0a: No such file or directory; look at PATH\n"));
}

TEST(TextRenderer, MarkersGetALineOfTheirOwn) {
    TextRenderer renderer{kMarker};
    EXPECT_EQ(renderer.render(denied_write("/etc/x")), kDeniedX);
    EXPECT_EQ(renderer.render(out("abc")), "abc");
    EXPECT_EQ(renderer.render(denied_write("/etc/x")), "\n" + kDeniedX);
    EXPECT_EQ(renderer.render(denied_write("/etc/x")), kDeniedX);
    EXPECT_EQ(renderer.render(out("d\n", StreamTag::err)), "d\n");
    EXPECT_EQ(renderer.render(denied_write("/etc/x")), kDeniedX);
}

TEST(TextRenderer, ProbesAreNotShown) {
    TextRenderer renderer{kMarker};
    Denial probe = denied_write("/etc/x");
    probe.probe = true;
    EXPECT_EQ(renderer.render(out("abc")), "abc");
    EXPECT_EQ(renderer.render(probe), "");
    EXPECT_EQ(renderer.render(finished(ended(Cause::finished, Exited{0}))), "");
}

TEST(TextRenderer, HoldsAnIncompleteSequenceAcrossAMarker) {
    TextRenderer renderer{kMarker};
    EXPECT_EQ(renderer.render(out("a\xe2\x82")), "a");
    EXPECT_EQ(renderer.render(denied_write("/etc/x")), "\n" + kDeniedX);
    EXPECT_EQ(renderer.render(out("\xacz")), "\u20acz");
}

TEST(TextRenderer, HoldsEachStreamForItself) {
    TextRenderer renderer{kMarker};
    EXPECT_EQ(renderer.render(out("\xc3")), "");
    EXPECT_EQ(renderer.render(out("\xe2\x82", StreamTag::err)), "");
    EXPECT_EQ(renderer.render(out("\xa9")), "\u00e9");
    EXPECT_EQ(renderer.render(out("\xac", StreamTag::err)), "\u20ac");
}

TEST(TextRenderer, EverySplitOfATextGivesTheText) {
    const std::string text = "a\u00e9\u20ac\U0001F600\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf.";
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = first; second <= text.size(); ++second) {
            TextRenderer renderer{kMarker};
            std::string shown = renderer.render(out(text.substr(0, first)));
            shown += renderer.render(out(text.substr(first, second - first)));
            shown += renderer.render(out(text.substr(second)));
            EXPECT_EQ(shown, text) << first << " " << second;
        }
    }
}

TEST(TextRenderer, TheEndFlushesWhatIsHeld) {
    TextRenderer renderer{kMarker};
    EXPECT_EQ(renderer.render(out("a\n\xe2\x82")), "a\n");
    EXPECT_EQ(renderer.render(finished(ended(Cause::finished, Exited{1}))),
              "\xe2\x82\n" + mark("exit code 1\n"));
}

TEST(TextRenderer, WarningsAndLimitsAreMarked) {
    TextRenderer renderer{kMarker};
    Warning warning;
    warning.text = "no Landlock\nhere";
    EXPECT_EQ(renderer.render(warning), mark("warning: no Landlock\\x0ahere\n"));
    CommandResult result = ended(Cause::finished, Signaled{SIGKILL, false});
    result.limit_hit = "memory";
    result.denials_complete = false;
    EXPECT_EQ(renderer.render(finished(result)),
              mark("killed by SIGKILL\n") + mark("limit hit: memory\n") +
                  mark("denials: partial; this kernel cannot report them all\n"));
}

TEST(Utf8, FollowsTheTableOfWellFormedSequences) {
    const std::string_view good[] = {
        "", "a", "\u00e9", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    for (const std::string_view text : good) EXPECT_TRUE(detail::is_utf8(text));
    const std::string_view bad[] = {"\x80",
                                    "\xc1\xbf",
                                    "\xe0\x9f\xbf",
                                    "\xed\xa0\x80",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xc3",
                                    "\xc3(",
                                    "\xe2\x82"};
    for (const std::string_view text : bad) EXPECT_FALSE(detail::is_utf8(text));
}

}  // namespace
}  // namespace sandpipe
