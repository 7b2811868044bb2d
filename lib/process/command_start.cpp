#include <sandpipe/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "process/adopt.hpp"
#include "process/audit_trail.hpp"
#include "process/command_core.hpp"
#include "process/entry.hpp"
#include "process/launcher_process.hpp"
#include "process/random_hex.hpp"
#include "process/start_request.hpp"
#include "process/steady_time.hpp"
#include "sys/descriptors.hpp"

namespace sandpipe::detail {
namespace {

constexpr std::size_t kMarkerBytes = 6;

/// Absolute, because the launcher has a cwd of its own. In a session the workspace is the base. As it is written, for
/// what ".." after a link means is the kernel's to say.
std::string absolute_cwd(const std::string& cwd, const Session* session) {
    std::error_code error;
    namespace fs = std::filesystem;
    fs::path base = session ? fs::path(session->workspace()) : fs::current_path(error);
    // The host's own is gone: its name in /proc says so, and entering it fails, which is data.
    if (error) base = fs::read_symlink("/proc/self/cwd", error);
    return cwd.empty() ? base.string() : (base / cwd).string();
}

/// The command has them now: who waits for the end of what it writes must not wait for us as well.
void let_go_of_descriptors(InvocationFields& fields) {
    if (std::holds_alternative<Input::Descriptor>(fields.input.source())) fields.input = Input::none();
    for (Output* output : {&fields.out, &fields.err})
        if (std::holds_alternative<Output::Descriptor>(output->sink())) *output = Output::discard();
}

bool keeps_tail(const std::optional<OutputLimit>& limit, const CommandDefaults& defaults) {
    const std::optional<OutputLimit>& used = limit ? limit : defaults.limit;
    return used && used->on_overflow == OnOverflow::keep_head_and_tail;
}

std::optional<OutputLimit> limit_of(const InvocationFields& fields, const CommandDefaults& defaults) {
    return fields.limit ? fields.limit : defaults.limit;
}

}  // namespace

std::shared_ptr<CommandCore> CommandCore::make(std::shared_ptr<RuntimeCore> runtime,
                                               BinaryInvocation invocation, const CommandDefaults& defaults,
                                               Mode mode) {
    runtime->check_usable();
    std::optional<NotStarted> refusal;
    if (invocation.fields().session)
        enter_directly(invocation.fields());
    else
        refusal = runtime->redeem(invocation.fields());
    check_invocation(invocation.fields());
    if (mode == Mode::settled && std::holds_alternative<Input::Stream>(invocation.fields().input.source()))
        throw Error(Errc::invalid_sandbox_config,
                    "Input::stream() is written while the command runs: start it with start_command");
    if (mode == Mode::streamed && keeps_tail(invocation.fields().limit, defaults))
        throw Error(
            Errc::invalid_sandbox_config,
            "limit: keep_head_and_tail is for settled results; a stream hands on what comes, so keep what you want"
            " of it, or use OnOverflow::stop");
    std::shared_ptr<CommandCore> core(
        new CommandCore(std::move(runtime), std::move(invocation), defaults, mode));
    core->refusal_ = std::move(refusal);
    core->lay_out_request(defaults);
    core->runtime_->join(core->id_, core);
    // Not before: a close that did not find it among the session's commands would end the session under it.
    if (const auto& session = core->fields_.session; session && session->closed())
        throw Error(Errc::sandbox_not_initialized, "the sandbox session is closed");
    return core;
}

CommandCore::CommandCore(std::shared_ptr<RuntimeCore> runtime, BinaryInvocation invocation,
                         const CommandDefaults& defaults, Mode mode)
    : runtime_(std::move(runtime)),
      fields_(std::move(invocation.fields())),
      mode_(mode),
      id_(fields_.audit ? fields_.audit->take_id() : runtime_->next_id()),
      strand_(asio::make_strand(runtime_->executor())),
      marker_(random_hex(kMarkerBytes)),
      timeout_(fields_.timeout.value_or(defaults.timeout)),
      stop_(fields_.stop),
      sequencer_(fields_.order == Order::merged ? StreamTag::merged : StreamTag::out),
      output_{LimitedOutput(limit_of(fields_, defaults)), LimitedOutput(limit_of(fields_, defaults))} {}

void CommandCore::lay_out_request(const CommandDefaults& defaults) {
    const Session* session = fields_.session.get();
    request_.id = id_;
    request_.env = session ? session->environment(fields_.env)
                           : fields_.env.value_or(defaults.env).resolve(runtime_->environment());
    request_.programs = candidates(fields_.program, request_.env, runtime_->environment());
    request_.argv.push_back(fields_.program);
    request_.argv.insert(request_.argv.end(), fields_.args.begin(), fields_.args.end());
    request_.cwd = absolute_cwd(fields_.cwd, session);
    request_.end_survivors = fields_.stop.survivors == Survivors::end;
}

void CommandCore::begin() {
    // Ended before it began: by close(), which reaches it from the moment it is made.
    if (settled_) return complete_waiters();
    if (refusal_) return fail_start(std::move(*refusal_));
    io_.emplace(*strand_);
    arm(io_->start_timer, later(asked_at_, fields_.start_timeout), &CommandCore::on_start_time);
    runtime_->take_place(
        id_, [self = shared_from_this()] { self->on_strand([](CommandCore& core) { core.on_place(); }); });
}

void CommandCore::on_place() {
    if (settled_) return;
    // Before the files of its streams are touched.
    if (const auto failure = certain_failure(request_)) return on_start_failed(*failure);
    std::shared_ptr<StdioFiles> files = StdioFiles::of(fields_);
    if (!files) return on_files(nullptr);
    open_aside(std::move(files));
}

/// A file system that hangs holds up this command, and nobody else on this thread.
void CommandCore::open_aside(std::shared_ptr<StdioFiles> files) {
    unique_fd ended;
    Opening& opening = io_->opening.emplace(*strand_, files);
    opening.task = AsideTask::start([files] { files->open(); }, ended);
    if (!ended) return on_files_open();
    if (const std::error_code error = adopt(opening.ended, ended))
        return on_start_failed({Stage::resources, error.value(), "epoll"});
    wait_for_files();
}

void CommandCore::wait_for_files() {
    io_->opening->ended.async_wait(asio::posix::descriptor_base::wait_read,
                                   bound([](CommandCore& core, const std::error_code& error) {
                                       if (error || !core.io_ || !core.io_->opening) return;
                                       core.io_->opening->task->done() ? core.on_files_open() : core.wait_for_files();
                                   }));
}

void CommandCore::on_files_open() {
    const std::shared_ptr<StdioFiles> files = io_->opening->files;
    io_->opening->task->rethrow();
    io_->opening.reset();
    on_files(files.get());
}

void CommandCore::on_files(StdioFiles* files) {
    StdioPlan stdio = plan_stdio(fields_, files);
    if (!stdio.failure && fields_.session) stdio.failure = find_way_out(stdio);
    if (stdio.failure) return on_start_failed(*stdio.failure);
    let_go_of_descriptors(fields_);
    send_request(std::move(stdio));
}

void CommandCore::send_request(StdioPlan stdio) {
    sys::SocketPair record;
    if (const int error = sys::make_socket_pair(record); error < 0)
        return on_start_failed({Stage::resources, -error, "socketpair"});
    try {
        channel_ = fields_.session ? fields_.session->channel() : runtime_->launcher().control;
    } catch (const Shortage& shortage) {
        return on_start_failed({Stage::resources, shortage.error(), "the launcher"});
    } catch (const Error& error) {
        return fail_start({Stage::launcher, error.code(), {}, error.text()});
    }
    std::vector<unique_fd> fds;
    fds.push_back(std::move(record.second));
    for (unique_fd& fd : stdio.child) fds.push_back(std::move(fd));
    if (const std::error_code error = adopt_ends(record.first, stdio))
        return on_start_failed({Stage::resources, error.value(), "epoll"});
    wait_for_record();
    channel_->send(wire::encode(request_), std::move(fds));
}

std::error_code CommandCore::adopt_ends(unique_fd& record, StdioPlan& stdio) {
    std::error_code error = adopt(io_->record.emplace(*strand_), record);
    for (std::size_t pipe = 0; pipe < 2; ++pipe) {
        if (error || !stdio.output[pipe]) continue;
        error = adopt(io_->output[pipe].emplace(*strand_), stdio.output[pipe]);
        drain_.on_open(pipe);
    }
    if (!error && stdio.input) error = adopt(io_->input.emplace(*strand_), stdio.input);
    return error;
}

void CommandCore::on_started(const wire::Started& message) {
    io_->start_timer.cancel();
    started_at_ = Clock::time_point(std::chrono::nanoseconds(message.monotonic_ns));
    program_started_ = true;
    status_ = Exited{};
    runtime_->log(LogLevel::info, id_,
                  "started " + fields_.program + " as pid " + std::to_string(message.pid));
    if (fields_.session)
        for (const std::string& notice : fields_.session->notices()) sequencer_.on_warning(Warning{0, {}, notice});
    if (timeout_ != kNoTimeout) arm(io_->deadline, later(started_at_, timeout_), &CommandCore::on_deadline);
    for (std::size_t pipe = 0; pipe < 2; ++pipe) read_when_ready(pipe);
    if (const auto* bytes = std::get_if<Input::Bytes>(&fields_.input.source())) {
        input_ = bytes->data;
        input_ends_ = true;
    }
    write_input();
    pass_relayed_on();
    if (start_waiter_) start_waiter_.succeed(true);
}

void CommandCore::on_start_failed(const wire::Failure& failure) {
    std::string hint = refused_by_ ? "the policy denies it: " + *refused_by_ : start_hint(failure, request_);
    if (fields_.session) hint += hidden_hint(*fields_.session, failure, request_);
    fail_start({failure.stage, std::error_code(failure.error, std::generic_category()), failure.path, hint});
}

void CommandCore::fail_start(NotStarted failure) {
    if (settled_) return;
    if (fields_.audit) fields_.audit->record(id_, StartFailed{fields_.program, failure});
    status_ = std::move(failure);
    if (stop_.requested()) cause_ = stop_.cause();
    settle();
}

void CommandCore::on_start_time() {
    if (program_started_ || settled_) return;
    if (io_->opening) return on_start_failed(io_->opening->files->hung_at(ETIMEDOUT));
    const Stage stage = channel_ ? Stage::program : Stage::queue;
    send_signal(SIGKILL);
    fail_start({stage, std::make_error_code(std::errc::timed_out), fields_.program,
                "it had not started within start_timeout"});
}

}  // namespace sandpipe::detail
