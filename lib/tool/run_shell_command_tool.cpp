#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <sandpipe/error.hpp>

#include <asio/error.hpp>
#include <asio/this_coro.hpp>

#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "narrator.hpp"
#include "own_task.hpp"
#include "stream_state.hpp"
#include "tool_core.hpp"

namespace sandpipe {
namespace {

using nlohmann::json;
using tool::OwnTask;
using tool::Prepared;
using tool::Ready;
using tool::Refusal;
using tool::ToolCore;

ToolResult refused(const Refusal& refusal, const ToolContext& context) {
    return tool::nothing_ran({context.call_id, 0}, code_name(refusal.code), refusal.text, refusal.gate);
}

ToolResult cancelled(const ToolContext& context) {
    ToolResult result =
        refused({Errc::sandbox_refused, tool::narrate(GateDecision(GateAborted{})), "aborted"}, context);
    result.summary["cause"] = to_string(Cause::cancelled);
    return result;
}

using Begun = std::variant<ToolResult, std::shared_ptr<tool::StreamState>>;

/// Either a running command, or the result of one that does not run.
awaitable<Begun> begin(std::shared_ptr<const ToolCore> core, json input, ToolContext context,
                       std::shared_ptr<OwnTask> task) {
    if (task->cancelled()) co_return cancelled(context);
    try {
        Prepared prepared = co_await core->prepare(std::move(input), context);
        if (const auto* refusal = std::get_if<Refusal>(&prepared)) co_return refused(*refusal, context);
        co_return co_await core->begin(std::get<Ready>(std::move(prepared)), context);
    } catch (const std::system_error& error) {
        // A gate may throw the same for reasons of its own.
        if (!task->cancelled() || error.code() != asio::error::operation_aborted) throw;
    }
    co_return cancelled(context);
}

awaitable<ToolResult> run(std::shared_ptr<const ToolCore> core, json input, ToolContext context,
                          std::shared_ptr<OwnTask> task) {
    Begun begun = co_await begin(std::move(core), std::move(input), std::move(context), task);
    if (auto* result = std::get_if<ToolResult>(&begun)) co_return std::move(*result);
    auto state = std::get<std::shared_ptr<tool::StreamState>>(std::move(begun));
    co_return co_await tool::drain(std::move(state), std::move(task));
}

awaitable<ToolStream> start_stream(std::shared_ptr<const ToolCore> core, json input, ToolContext context) {
    Prepared prepared = co_await core->prepare(std::move(input), context);
    if (const auto* refusal = std::get_if<Refusal>(&prepared)) throw Error(refusal->code, refusal->text);
    co_return ToolStream(co_await core->begin(std::get<Ready>(std::move(prepared)), context));
}

}  // namespace

RunShellCommandTool::RunShellCommandTool(RunShellCommandToolOptions options)
    : core_(std::make_shared<const ToolCore>(std::move(options))) {}

awaitable<ToolResult> RunShellCommandTool::call(json input) const {
    return call(std::move(input), ToolContext{});
}

awaitable<ToolResult> RunShellCommandTool::call(json input, ToolContext context) const {
    std::function<awaitable<ToolResult>(std::shared_ptr<OwnTask>)> work =
        [core = core_, input = std::move(input), context = std::move(context)](
            std::shared_ptr<OwnTask> task) { return run(core, input, context, std::move(task)); };
    return tool::run_apart<ToolResult>(std::move(work));
}

awaitable<ToolStream> RunShellCommandTool::start(json input) const {
    return start(std::move(input), ToolContext{});
}

awaitable<ToolStream> RunShellCommandTool::start(json input, ToolContext context) const {
    return start_stream(core_, std::move(input), std::move(context));
}

std::uint64_t RunShellCommandTool::sink_failures() const noexcept { return core_->sink_failures(); }

}  // namespace sandpipe
