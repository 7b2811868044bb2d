#include "support/executor_fixture.hpp"

#include <sandpipe/error.hpp>

#include <unistd.h>

#include <filesystem>

#include "support/as_user.hpp"
#include "support/host_snapshot.hpp"
#include "support/process_tree.hpp"

namespace sandpipe::testing {

std::vector<std::string> argv_of(const BinaryInvocation& invocation) {
    std::vector<std::string> argv{invocation.fields().program};
    argv.insert(argv.end(), invocation.fields().args.begin(), invocation.fields().args.end());
    return argv;
}

AuditSink AuditNotes::sink() {
    return [this](const AuditEvent& event) {
        const std::lock_guard<std::mutex> lock(mutex_);
        events_.push_back(event);
    };
}

std::vector<AuditEvent> AuditNotes::events() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return events_;
}

std::vector<std::string> AuditNotes::kinds() const {
    std::vector<std::string> names;
    for (const AuditEvent& event : events()) names.emplace_back(kind_name(event));
    return names;
}

void ExecutorTest::SetUp() {
    static int count = 0;
    workspace_ = test_area() + "/executor-" + std::to_string(++count);
    std::filesystem::create_directory(workspace_);
    start_context();
    // What a process opens once and keeps, such as the launcher's image, is nothing left over.
    if (count == 1) {
        (void)open();
        restart();
    }
    descriptors_ = open_descriptors();
}

void ExecutorTest::start_context() {
    context_ = std::make_unique<asio::io_context>();
    work_.emplace(context_->get_executor());
    runtime_.emplace(context_->get_executor());
    thread_ = std::thread([this] { context_->run(); });
}

void ExecutorTest::close_runtime() {
    const std::vector<pid_t> below = descendants_of(::getpid());
    await(runtime_->close());
    EXPECT_TRUE(all_end_within(below, std::chrono::seconds(5))) << "processes outlive the Runtime";
    work_.reset();
    thread_.join();
    runtime_.reset();
    context_.reset();
}

void ExecutorTest::restart() {
    close_runtime();
    start_context();
}

void ExecutorTest::TearDown() {
    // Those of the context itself are there before and after.
    close_runtime();
    start_context();
    EXPECT_EQ(open_descriptors(), descriptors_) << "descriptors are left over";
    close_runtime();
    EXPECT_TRUE(children_of(::getpid()).empty()) << "child processes are left over";
    remove_tree(workspace_);
}

std::shared_ptr<SandboxEnforcer> ExecutorTest::open(SrtEnforcerOptions options) {
    options.workspace = workspace_;
    if (options.policy.filesystem.allow_write.empty()) options.policy.filesystem.allow_write = {"."};
    return await(srt_enforcer(runtime(), std::move(options)));
}

std::string ExecutorTest::refusal(SrtEnforcerOptions options) {
    try {
        (void)open(std::move(options));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

void SessionTest::SetUp() {
    ExecutorTest::SetUp();
    sandbox_ = open();
}

void SessionTest::TearDown() {
    sandbox_.reset();
    ExecutorTest::TearDown();
}

}  // namespace sandpipe::testing
