#include "cli/json_lines.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <csignal>

#include "cli/base64.hpp"

namespace sandpipe::cli {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

json parsed(const std::string& line) {
    EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line, and its newline";
    return json::parse(line);
}

OutputChunk chunk(StreamTag stream, std::string data) {
    OutputChunk event;
    event.seq = 1;
    event.time = 2100us;
    event.stream = stream;
    event.data = std::move(data);
    return event;
}

json end_of(CommandResult result) {
    Finished event;
    event.result = std::move(result);
    return parsed(event_line(event));
}

TEST(Base64, KnownValues) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foob"), "Zm9vYg==");
    EXPECT_EQ(base64("\xfb\xff\xfe"), "+//+");
    EXPECT_EQ(base64(std::string("\0", 1)), "AA==");
}

TEST(JsonLines, ChunksStandInTheOrderOfTheContract) {
    EXPECT_EQ(event_line(chunk(StreamTag::out, "text\n")),
              "{\"event\":\"stdout\",\"seq\":1,\"time\":0.0021,\"data\":\"text\\n\"}\n");
    EXPECT_EQ(parsed(event_line(chunk(StreamTag::err, "x")))["event"], "stderr");
    EXPECT_EQ(parsed(event_line(chunk(StreamTag::merged, "x")))["event"], "output");
}

TEST(JsonLines, APathThatIsNoTextHasItsBytesBesideIt) {
    Denial denial;
    denial.path = "a\xff";
    denial.resolved = "/w/a\xff";
    const json odd = parsed(event_line(denial));
    EXPECT_EQ(odd["path"], "a\uFFFD");
    EXPECT_EQ(odd["path_base64"], base64("a\xff"));
    EXPECT_EQ(odd["resolved_base64"], base64("/w/a\xff"));
    denial.path = denial.resolved = "/w/\xc3\xa4";
    const json plain = parsed(event_line(denial));
    EXPECT_EQ(plain["path"], "/w/\xc3\xa4");
    EXPECT_FALSE(plain.contains("path_base64") || plain.contains("resolved_base64"));
    const json answer = parsed(explanation_line("read", "\xff", {false, "denyRead x", "/w/x"}));
    EXPECT_EQ(answer["target"], "\uFFFD");
    EXPECT_EQ(answer["target_base64"], base64("\xff"));
    EXPECT_EQ(answer["allowed"], false);
}

TEST(JsonLines, WhatCannotBeExplainedIsOneLineToo) {
    const json line = parsed(refusal_line(refusal(Error(Errc::invalid_sandbox_config, "--x is no option"))));
    EXPECT_EQ(line["error"], "E_INVALID_SANDBOX_CONFIG");
    EXPECT_EQ(line["hint"], "--x is no option");
}

TEST(JsonLines, BytesThatAreNoTextComeAsBase64) {
    const json half = parsed(event_line(chunk(StreamTag::out, "a\xe2\x82")));
    EXPECT_FALSE(half.contains("data"));
    EXPECT_EQ(half["data_base64"], "YeKC");
    const json nul = parsed(event_line(chunk(StreamTag::out, std::string("\0", 1))));
    EXPECT_EQ(nul["data"], std::string("\0", 1));
}

TEST(JsonLines, ADenialHasAllItsFacts) {
    Denial denial;
    denial.seq = 4;
    denial.time = 4ms;
    denial.operation = "open";
    denial.path = denial.resolved = "/etc/x";
    denial.error = EROFS;
    denial.rule = "r";
    denial.pid = 12;
    denial.program = "touch";
    denial.writable_roots = {"/w"};
    EXPECT_EQ(event_line(denial),
              "{\"event\":\"denied\",\"seq\":4,\"time\":0.004,\"kind\":\"write\",\"operation\":\"open\","
              "\"path\":\"/etc/x\","
              "\"resolved\":\"/etc/"
              "x\",\"errno\":\"EROFS\",\"rule\":\"r\",\"reason\":null,\"pid\":12,\"program\":\"touch\","
              "\"writable_roots\":[\"/w\"],\"probe\":false}\n");
}

TEST(JsonLines, WhatOnlySomeDenialsHave) {
    Denial denial;
    denial.host = "example.org";
    denial.port = 443;
    denial.second_path = "/b";
    denial.folded = 3;
    denial.probe = true;
    denial.reason = "no";
    const json line = parsed(event_line(denial));
    EXPECT_EQ(line["host"], "example.org");
    EXPECT_EQ(line["port"], 443);
    EXPECT_EQ(line["second_path"], "/b");
    EXPECT_EQ(line["folded"], 3);
    EXPECT_EQ(line["probe"], true);
    EXPECT_EQ(line["reason"], "no");
    EXPECT_TRUE(line["path"].is_null());
}

TEST(JsonLines, APathMayBeAnyBytes) {
    Denial denial;
    denial.path = "/\xff\n";
    EXPECT_EQ(parsed(event_line(denial))["path"], "/\uFFFD\n");
}

TEST(JsonLines, TheEndOfAFinishedCommand) {
    CommandResult result;
    result.exit_code = 0;
    result.failed = false;
    result.status = Exited{0};
    result.cause = Cause::finished;
    result.out_facts = {5, 5, false};
    result.wall = 4100us;
    result.max_rss = 1130496;
    result.denials.resize(1);
    result.denials[0].folded = 499;
    const json end = end_of(result);
    EXPECT_EQ(end["event"], "end");
    EXPECT_EQ(end["status"], "exited");
    EXPECT_EQ(end["code"], 0);
    EXPECT_TRUE(end["signal"].is_null());
    EXPECT_EQ(end["core_dumped"], false);
    EXPECT_EQ(end["cause"], "finished");
    EXPECT_EQ(end["forced"], false);
    EXPECT_EQ(end["pipe_held_open"], false);
    EXPECT_EQ(end["stdout"], (json{{"bytes", 5}, {"kept", 5}, {"truncated", false}}));
    EXPECT_EQ(end["duration_ms"], 4.1);
    EXPECT_EQ(end["max_rss_bytes"], 1130496);
    EXPECT_EQ(end["denials"], 500) << "with those that one of them stands for";
    EXPECT_EQ(end["denials_complete"], true);
    EXPECT_TRUE(end["limit_hit"].is_null());
    EXPECT_TRUE(end["start_failure"].is_null());
}

TEST(JsonLines, TheEndOfAKilledCommand) {
    CommandResult result;
    result.status = Signaled{SIGKILL, true};
    result.cause = Cause::timed_out;
    const json end = end_of(result);
    EXPECT_EQ(end["status"], "signaled");
    EXPECT_EQ(end["code"], -1);
    EXPECT_EQ(end["signal"], "SIGKILL");
    EXPECT_EQ(end["core_dumped"], true);
    EXPECT_EQ(end["cause"], "timed_out");
}

TEST(JsonLines, TheEndOfAFailedStart) {
    CommandResult result;
    result.status = NotStarted{Stage::program, std::error_code(ENOENT, std::system_category()), "/x", ""};
    const json end = end_of(result);
    EXPECT_EQ(end["status"], "not_started");
    EXPECT_EQ(end["code"], -1);
    EXPECT_EQ(end["start_failure"], (json{{"stage", "program"},
                                          {"error", "No such file or directory"},
                                          {"errno", "ENOENT"},
                                          {"path", "/x"},
                                          {"hint", nullptr}}));
}

TEST(JsonLines, BadOptionsAreAFailedStart) {
    const json end = end_of(refusal(Error(Errc::invalid_sandbox_config, "--x is unknown")));
    EXPECT_EQ(end["status"], "not_started");
    EXPECT_EQ(end["cause"], "not_started");
    EXPECT_EQ(end["start_failure"], (json{{"stage", "options"},
                                          {"error", "E_INVALID_SANDBOX_CONFIG"},
                                          {"errno", nullptr},
                                          {"path", nullptr},
                                          {"hint", "--x is unknown"}}));
    EXPECT_EQ(end_of(refusal(Error(Errc::sandbox_failed, "x")))["start_failure"]["stage"], "wrap");
}

TEST(JsonLines, OneObjectForExec) {
    BinaryExecResult result;
    result.exit_code = 3;
    result.status = Exited{3};
    result.cause = Cause::finished;
    result.out = "hi\n";
    result.err = "\xff";
    const json object = parsed(result_object(result));
    EXPECT_EQ(object["exit_code"], 3);
    EXPECT_EQ(object["out"], "hi\n");
    EXPECT_EQ(object["err_base64"], "/w==");
    EXPECT_FALSE(object.contains("err"));
    EXPECT_EQ(object["failed"], true);
    EXPECT_EQ(object["code"], 3);
    EXPECT_EQ(object["cause"], "finished");
}

TEST(JsonLines, StartAndWarnings) {
    EXPECT_EQ(start_line("3f9c12ab04d7", nullptr),
              "{\"event\":\"start\",\"marker\":\"3f9c12ab04d7\",\"enforcement\":null}\n");
    Warning warning;
    warning.seq = 5;
    warning.text = "t";
    EXPECT_EQ(event_line(warning), "{\"event\":\"warning\",\"seq\":5,\"text\":\"t\"}\n");
}

}  // namespace
}  // namespace sandpipe::cli
