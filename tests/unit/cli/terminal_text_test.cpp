#include "cli/terminal_text.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace sandpipe::cli {
namespace {

TerminalText text(bool one_place, bool quiet = false) { return {"0", TerminalTextOptions{one_place, quiet}}; }

OutputEvent out(std::string data, StreamTag stream = StreamTag::out) {
    OutputChunk chunk;
    chunk.stream = stream;
    chunk.data = std::move(data);
    return chunk;
}

OutputEvent denial() {
    Denial event;
    event.kind = DenialKind::write;
    event.path = "/x";
    event.rule = "EROFS";
    return event;
}

OutputEvent end(Cause cause, EndStatus status) {
    Finished event;
    event.result.cause = cause;
    event.result.status = std::move(status);
    return event;
}

void expect(const TerminalPieces& pieces, const std::string& to_out, const std::string& to_err) {
    EXPECT_EQ(pieces.out, to_out);
    EXPECT_EQ(pieces.err, to_err);
}

const std::string kRuleDenied = "[sandbox 0] denied: write /x (rule: EROFS)\n";

TEST(TerminalText, InOnePlaceAMarkerEndsTheLineOfEitherStream) {
    TerminalText terminal = text(true);
    expect(terminal.render(out("abc")), "abc", "");
    expect(terminal.render(denial()), "", "\n" + kRuleDenied);
    expect(terminal.render(out("e", StreamTag::err)), "", "e");
    expect(terminal.render(denial()), "", "\n" + kRuleDenied);
}

TEST(TerminalText, InTwoPlacesOnlyStderrMatters) {
    TerminalText terminal = text(false);
    expect(terminal.render(out("abc")), "abc", "");
    expect(terminal.render(denial()), "", kRuleDenied);
    expect(terminal.render(out("e", StreamTag::err)), "", "e");
    expect(terminal.render(out("x\n")), "x\n", "");
    expect(terminal.render(denial()), "", "\n" + kRuleDenied);
}

TEST(TerminalText, HoldsBackOnlyWhereAMarkerCouldFall) {
    expect(text(false).render(out("\xc3")), "\xc3", "");
    expect(text(true).render(out("\xc3")), "", "");
    expect(text(false).render(out("\xc3", StreamTag::err)), "", "");
    expect(text(true, true).render(out("\xc3")), "\xc3", "");
}

TEST(TerminalText, WhatIsHeldComesToItsOwnStreamAtTheEnd) {
    TerminalText terminal = text(true);
    expect(terminal.render(out("\xc3")), "", "");
    expect(terminal.render(out("\xe2\x82", StreamTag::err)), "", "");
    expect(terminal.render(end(Cause::finished, Exited{0})), "\xc3", "\xe2\x82");
}

TEST(TerminalText, TrailersOnlyWhereTheStatusIsNotTheCommandsOwn) {
    expect(text(true).render(end(Cause::finished, Exited{7})), "", "");
    expect(text(true).render(end(Cause::finished, Signaled{11})), "", "[sandbox 0] killed by SIGSEGV\n");
    TerminalText terminal = text(true);
    static_cast<void>(terminal.render(out("abc")));
    expect(terminal.render(end(Cause::timed_out, Exited{7})), "",
           "\n[sandbox 0] timed out\n[sandbox 0] exit code 7\n");
}

TEST(TerminalText, QuietIsOutputOnly) {
    TerminalText terminal = text(true, true);
    expect(terminal.render(denial()), "", "");
    expect(terminal.render(Warning{}), "", "");
    expect(terminal.render(end(Cause::timed_out, Exited{7})), "", "");
}

TEST(TerminalText, MergedOutputGoesToStdout) {
    expect(text(false).render(out("abc", StreamTag::merged)), "abc", "");
}

}  // namespace
}  // namespace sandpipe::cli
