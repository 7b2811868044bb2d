// run_shell_command with real sessions.
#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <filesystem>
#include <regex>
#include <set>

#include "support/mentions.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

awaitable<GateDecision> approve() { co_return Approved{}; }

class LiveTool : public SandboxTest {
  protected:
    RunShellCommandToolOptions options() {
        RunShellCommandToolOptions made;
        made.enforcer = open().enforcer();
        made.gate = [](const ToolRequest&) { return approve(); };
        made.on_sandbox = [this](const AuditEvent& event) { events_.push_back(event); };
        return made;
    }

    ToolResult call(const RunShellCommandTool& tool, json input, ToolContext context = {}) {
        ToolResult result;
        drive([&]() -> awaitable<void> { result = co_await tool.call(input, context); });
        return result;
    }

    ToolResult sh(const std::string& line) {
        return call(RunShellCommandTool(options()), json{{"command", line}});
    }

    [[nodiscard]] std::vector<std::string> told() const {
        std::vector<std::string> lines;
        for (const AuditEvent& event : events_) {
            std::string line(kind_name(event));
            if (const auto* act = std::get_if<DeniedAct>(&event.what)) line += " " + act->denial.resolved;
            lines.push_back(line);
        }
        return lines;
    }

    std::vector<AuditEvent> events_;
};

TEST_F(LiveTool, RunsInTheWorkspaceAndBelow) {
    const RunShellCommandTool tool(options());
    const ToolResult here = call(tool, json{{"command", "cat file; echo error >&2"}});
    EXPECT_FALSE(here.is_error);
    EXPECT_EQ(here.text, "content of /file\nerror\nThe command finished with exit code 0.");
    EXPECT_EQ(here.summary["output_bytes"], 23);
    EXPECT_EQ(here.artifact->head(100), "content of /file\nerror\n");
    EXPECT_TRUE(
        mentions(call(tool, json{{"command", "cat inner"}, {"cwd", "/dir"}}).text, "content of /dir/inner"));
    EXPECT_EQ(call(tool, json{{"command", "cat last"}, {"cwd", "dir/deep"}}).summary["exit_code"], 0);
}

TEST_F(LiveTool, ACwdThatIsMissingIsAResult) {
    const RunShellCommandTool tool(options());
    const ToolResult result = call(tool, json{{"command", "ls"}, {"cwd", "no/such"}});
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.summary["status"], "not_started");
    EXPECT_EQ(result.summary["stage"], "cwd");
    EXPECT_TRUE(mentions(result.text, "./no/such")) << result.text;
    EXPECT_FALSE(mentions(result.text, at("w"))) << result.text;
    EXPECT_EQ(told(), std::vector<std::string>{"start_failed"});
    EXPECT_GT(events_[0].command_id, 0U);
    EXPECT_EQ(events_[0].command_id, result.summary["command_id"]);
}

TEST_F(LiveTool, ADenialIsInTheTextTheSummaryTheArtifactAndTheAudit) {
    const std::string path = at("o/new");
    const ToolResult result = sh("echo one; echo x > ../o/new; echo two; ls > " + path);
    EXPECT_TRUE(result.is_error);
    const std::string marker = result.summary["marker"];
    const std::string line =
        "[sandbox " + marker + "] denied: write ../o/new (outside the writable roots: .)\n";
    EXPECT_TRUE(mentions(result.text, "one\n" + line)) << result.text;
    EXPECT_LT(result.text.find(line), result.text.find("two"));
    EXPECT_TRUE(mentions(result.text, "denied 2 acts")) << result.text;
    EXPECT_EQ(result.artifact->search("^\\[sandbox " + marker + "\\] denied: write ").size(), 2U);
    EXPECT_EQ(result.summary["denial_count"], 2);
    EXPECT_EQ(result.summary["denials"][0]["resolved"], "../o/new");
    EXPECT_EQ(told(), (std::vector<std::string>{"denied " + path, "denied " + path}));
    for (const AuditEvent& event : events_) EXPECT_EQ(event.command_id, result.summary["command_id"]);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(LiveTool, WhatWeWriteNamesNoPlaceOfTheHost) {
    const ToolResult result =
        sh("cd dir; echo x > .env; echo x > /etc/x; echo x > ../.git/hooks/y; rm -r " + at("w/.vscode"));
    expect_changes({"+ w/dir/.env"});
    std::string ours;
    const auto lines =
        result.artifact->search("^\\[sandbox " + std::string(result.summary["marker"]) + "\\]");
    EXPECT_FALSE(lines.empty());
    for (const ArtifactMatch& match : lines) ours += match.text + "\n";
    EXPECT_FALSE(mentions(ours + result.summary.dump(), at("w"))) << ours << result.summary.dump(2);
}

TEST_F(LiveTool, AStreamYieldsEventsAndThenTheResult) {
    const RunShellCommandTool tool(options());
    std::string seen;
    ToolResult result;
    drive([&]() -> awaitable<void> {
        const json input{{"command", "echo first; read -t 5 line; touch ../o/x; echo last"}};
        ToolStream stream = co_await tool.start(input);
        EXPECT_GT(stream.id(), 0U);
        EXPECT_EQ(stream.marker().size(), 12U);
        const auto artifact = stream.artifact();
        while (const std::optional<OutputEvent> event = co_await stream.next()) {
            if (const auto* chunk = std::get_if<OutputChunk>(&*event)) seen += chunk->data;
            if (const auto* denial = std::get_if<Denial>(&*event)) seen += "<" + denial->resolved + ">";
            if (seen != "first\n") continue;
            EXPECT_EQ(artifact->head(100), seen) << "readable while it runs";
        }
        EXPECT_TRUE(artifact->facts().finished);
        result = co_await stream.finish();
    });
    EXPECT_EQ(seen.find("first\n<" + at("o/x") + ">"), 0U) << seen;
    EXPECT_FALSE(result.is_error);
    EXPECT_TRUE(result.text.starts_with("first\n[sandbox ")) << result.text;
    EXPECT_TRUE(mentions(result.text, "last\n")) << result.text;
}

TEST_F(LiveTool, ATimeoutEndsTheWholeTree) {
    const RunShellCommandTool tool(options());
    const std::string seconds = unique_seconds();
    const ToolResult result = call(
        tool,
        json{{"command", "echo begun; sleep " + seconds + " & sleep " + seconds}, {"timeout_seconds", 1}});
    EXPECT_EQ(result.summary["cause"], "timed_out");
    EXPECT_TRUE(mentions(result.text, "begun\n[sandbox ")) << result.text;
    EXPECT_TRUE(mentions(result.text, "timeout of 1 s")) << result.text;
    EXPECT_TRUE(processes_with(seconds).empty());
}

TEST_F(LiveTool, CancellationGivesTheOutputSoFar) {
    const RunShellCommandTool tool(options());
    ToolContext context;
    context.artifact = std::make_shared<SpooledArtifact>();
    ToolResult result;
    drive([&]() -> awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        asio::cancellation_signal signal;
        asio::steady_timer done(executor, asio::steady_timer::time_point::max());
        context.on_sandbox = [&](const AuditEvent&) {
            EXPECT_EQ(context.artifact->head(6), "begun\n") << "readable during call()";
            asio::post(executor, [&] { signal.emit(asio::cancellation_type::terminal); });
        };
        const json input{{"command", "echo begun; touch ../o/x; exec sleep 60"}};
        asio::co_spawn(
            executor, tool.call(input, context),
            asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr error, ToolResult made) {
                EXPECT_FALSE(error);
                result = std::move(made);
                done.cancel();
            }));
        std::error_code ignored;
        co_await done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    });
    EXPECT_EQ(result.summary["cause"], "cancelled");
    EXPECT_TRUE(result.text.starts_with("begun\n")) << result.text;
    EXPECT_EQ(result.artifact, context.artifact);
}

TEST_F(LiveTool, TheOutputIsBoundedForTheModelAndWholeInTheArtifact) {
    RunShellCommandToolOptions made = options();
    made.text_limit = 1000;
    const ToolResult result = call(RunShellCommandTool(made), json{{"command", "seq 1 300000"}});
    EXPECT_LT(result.text.size(), 1500U);
    EXPECT_TRUE(result.text.starts_with("1\n2\n")) << result.text;
    EXPECT_TRUE(mentions(result.text, "\n300000\nThe command finished")) << result.text;
    const std::regex left_out("\\[sandbox [0-9a-f]{12}\\] left out here: [0-9]+ bytes, [0-9]+ lines");
    EXPECT_TRUE(std::regex_search(result.text, left_out)) << result.text;
    EXPECT_EQ(result.artifact->facts().lines, 300'000U);
    EXPECT_TRUE(result.artifact->facts().in_file);
    EXPECT_EQ(result.artifact->lines(123'456, 1), std::vector<std::string>{"123456"});
    EXPECT_EQ(result.artifact->search("^299999$").at(0).line, 299'999U);
}

TEST_F(LiveTool, TooMuchOutputEndsTheCommandIfAsked) {
    RunShellCommandToolOptions made = options();
    made.output_limit = 100'000;
    const ToolResult result =
        call(RunShellCommandTool(made), json{{"command", "yes"}, {"timeout_seconds", 60}});
    EXPECT_EQ(result.summary["cause"], "output_limit");
    EXPECT_TRUE(mentions(result.text, "more output than is allowed"));
    EXPECT_LT(result.artifact->facts().bytes, 101'000U);
}

TEST_F(LiveTool, AForgedMarkerHasAnotherNumber) {
    const ToolResult result = sh("echo '[sandbox 0123456789ab] denied: write /x'");
    EXPECT_NE(result.summary["marker"], "0123456789ab");
    EXPECT_EQ(result.summary["denial_count"], 0);
    EXPECT_TRUE(told().empty());
}

TEST_F(LiveTool, ManyCallsAtOnceInOneLoop) {
    const RunShellCommandTool tool(options());
    constexpr int kCalls = 32;
    std::vector<ToolResult> results(kCalls);
    drive([&]() -> awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        int running = kCalls;
        asio::steady_timer done(executor, asio::steady_timer::time_point::max());
        for (int i = 0; i < kCalls; ++i) {
            const std::string number = std::to_string(i);
            const json input{{"command", "echo " + number + " > made-" + number + "; cat made-" + number +
                                             "; touch ../o/" + number + "; exit " + number}};
            ToolContext context;
            context.call_id = "call-" + number;
            asio::co_spawn(executor, tool.call(input, context),
                           [&, i](std::exception_ptr error, ToolResult made) {
                               EXPECT_FALSE(error);
                               results[i] = std::move(made);
                               if (--running == 0) done.cancel();
                           });
        }
        std::error_code ignored;
        co_await done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    });
    std::set<std::string> markers;
    ignore_below("w");
    for (int i = 0; i < kCalls; ++i) {
        const std::string number = std::to_string(i);
        EXPECT_EQ(results[i].summary["exit_code"], i);
        EXPECT_EQ(results[i].summary["call_id"], "call-" + number);
        EXPECT_TRUE(results[i].text.starts_with(number + "\n[sandbox ")) << results[i].text;
        EXPECT_EQ(results[i].summary["denial_count"], 1);
        markers.insert(results[i].summary["marker"]);
    }
    EXPECT_EQ(markers.size(), static_cast<std::size_t>(kCalls));
    std::set<std::uint64_t> ids;
    for (const AuditEvent& event : events_) ids.insert(event.command_id);
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(kCalls));
}

TEST_F(LiveTool, TheNextCommandSeesFilesAndNothingElse) {
    const RunShellCommandTool tool(options());
    ignore_below("w");
    (void)call(tool, json{{"command", "cd dir; export LEFT=1; sleep 100 & echo x > left"}});
    const ToolResult result = call(tool, json{{"command", "pwd; echo \"[$LEFT]\"; ls dir/left; jobs"}});
    EXPECT_EQ(result.artifact->head(1000), at("w") + "\n[]\ndir/left\n");
}

TEST_F(LiveTool, AClosedSessionIsAnException) {
    RunShellCommandToolOptions made = options();
    const RunShellCommandTool tool(made);
    RunShellCommandToolOptions narrower = made;
    narrower.allowed_commands = {{"cat"}};
    const RunShellCommandTool only_cat(narrower);
    EXPECT_EQ(call(only_cat, json{{"command", "cat file"}}).summary["exit_code"], 0);
    drive([&]() -> awaitable<void> { co_await made.enforcer->close(); });
    EXPECT_THROW(call(tool, json{{"command", "true"}}), Error);
    EXPECT_THROW(call(only_cat, json{{"command", "cat file"}}), Error) << "by a session of its own that is open";
}

TEST_F(LiveTool, AllowedCommandsAreTheOnlyProgramsThatAreExecuted) {
    RunShellCommandToolOptions made = options();
    EXPECT_EQ(call(RunShellCommandTool(made), json{{"command", "head -n 1 file"}}).summary["exit_code"], 0);
    made.allowed_commands = {{"cat", "/usr/bin/env"}};
    const RunShellCommandTool tool(made);
    const json line{{"command", "echo builtin; cat file; env -i; head -n 1 two; /usr/bin/env /usr/bin/true; "
                                "cp /usr/bin/true mine; ./mine; echo last"}};
    const ToolResult result = call(tool, line);
    EXPECT_TRUE(mentions(result.text, "builtin\ncontent of /file\n")) << result.text;
    EXPECT_TRUE(mentions(result.text, "denied: exec /usr/bin/head")) << result.text;
    EXPECT_FALSE(mentions(result.text, "content of /two")) << result.text;
    EXPECT_TRUE(mentions(result.text, "Use a program that may be run.")) << result.text;
    EXPECT_EQ(told(), (std::vector<std::string>{"narrowed", "denied /usr/bin/head", "denied /usr/bin/true",
                                                "denied /usr/bin/cp"}));
    for (const json& denial : result.summary["denials"]) EXPECT_EQ(denial["kind"], "exec") << denial;
    // The next call runs in the same narrower session; a policy of its own does not widen it.
    events_.clear();
    ToolContext context;
    context.policy = writable({"dir"});
    EXPECT_TRUE(mentions(call(tool, json{{"command", "head -n 1 two || cat two"}}).text, "content of /two"));
    EXPECT_TRUE(mentions(call(tool, json{{"command", "head -n 1 two; echo x > two || cat two"}}, context).text,
                         "content of /two"));
    EXPECT_EQ(told(), (std::vector<std::string>{"denied /usr/bin/head", "narrowed", "denied /usr/bin/head",
                                                "denied " + at("w/two")}));
}

TEST_F(LiveTool, WithoutAnyAllowedCommandThereIsTheShellAlone) {
    RunShellCommandToolOptions made = options();
    made.allowed_commands.emplace();
    const RunShellCommandTool tool(made);
    EXPECT_EQ(call(tool, json{{"command", "read -r line < file; echo \"$line\""}}).artifact->head(100),
              "content of /file\n");
    EXPECT_EQ(call(tool, json{{"command", "ls"}}).summary["exit_code"], 126);
    EXPECT_EQ(told(), (std::vector<std::string>{"narrowed", "denied /usr/bin/ls"}));
}

TEST_F(LiveTool, APolicyForTheCallHoldsBesideTheSessionsOwn) {
    const RunShellCommandTool tool(options());
    ignore_below("w");
    ToolContext context;
    context.policy = writable();
    context.policy->filesystem.deny_write = {"file"};
    const ToolResult result = call(tool, json{{"command", "echo x > file; echo y > two"}}, context);
    EXPECT_EQ(read_file(at("w/file")), "content of /file\n");
    EXPECT_EQ(read_file(at("w/two")), "y\n");
    EXPECT_EQ(result.summary["denial_count"], 1);
}

TEST_F(LiveTool, APolicyForTheCallCannotGrantMore) {
    const RunShellCommandTool tool(options());
    ToolContext context;
    context.policy = writable({".", at("o")});
    const ToolResult result = call(tool, json{{"command", "echo x > two"}}, context);
    EXPECT_EQ(result.summary["error"], "E_SANDBOX_POLICY_CONFLICT");
    EXPECT_EQ(told(), std::vector<std::string>{"start_failed"});
}

}  // namespace
}  // namespace sandpipe::testing
