#include "support/sandbox_fixture.hpp"

#include <unistd.h>
#include <sandpipe/command_stream.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/srt_enforcer.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "sandbox/make_enforcer.hpp"

namespace fs = std::filesystem;

namespace sandpipe::testing {

struct StreamHandle {
    CommandStream stream;
};
struct SessionHandle {
    std::shared_ptr<SandboxEnforcer> enforcer;
};

/// The event loop and the Runtime behind the synchronous face.
class Machinery {
  public:
    Machinery() { runtime_.emplace(context_.get_executor()); }

    template <typename Make>
    auto await(Make make) {
        using Value = decltype(make())::value_type;
        std::exception_ptr error;
        std::optional<Value> value;
        bool done = false;
        const auto work = [&]() -> awaitable<void> { value.emplace(co_await make()); };
        asio::co_spawn(context_, work, [&](std::exception_ptr thrown) {
            error = thrown;
            done = true;
        });
        drive(done);
        if (error) std::rethrow_exception(error);
        return std::move(*value);
    }

    void await_void(const std::function<awaitable<void>()>& make) {
        (void)await([&]() -> awaitable<int> {
            co_await make();
            co_return 0;
        });
    }

    Runtime& runtime() { return *runtime_; }
    asio::io_context& context() { return context_; }

  private:
    void drive(const bool& done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
        context_.restart();
        while (!done && std::chrono::steady_clock::now() < deadline)
            context_.run_one_for(std::chrono::seconds(1));
        if (!done) {
            std::fprintf(stderr, "an operation did not complete within 90 s\n");
            std::abort();
        }
    }

    asio::io_context context_;
    std::optional<Runtime> runtime_;
};

std::vector<std::string> Ran::denied() const {
    std::vector<std::string> lines;
    for (const Denial& denial : result.denials)
        lines.push_back(denial.operation + " " + denial.resolved + " " + errno_name(denial.error));
    return lines;
}

Running::Running(Machinery& machinery, std::shared_ptr<StreamHandle> stream)
    : machinery_(&machinery), stream_(std::move(stream)) {}

bool Running::take_event() {
    std::optional<OutputEvent> event = machinery_->await([this] { return stream_->stream.next(); });
    if (!event) return false;
    if (const auto* chunk = std::get_if<OutputChunk>(&*event)) {
        (chunk->stream == StreamTag::err ? ran_.err : ran_.out) += chunk->data;
        ran_.story += chunk->data;
    } else if (const auto* denial = std::get_if<Denial>(&*event)) {
        ran_.story += "<" + denial->operation + " " + denial->resolved + ">";
    } else if (const auto* finished = std::get_if<Finished>(&*event)) {
        ran_.result = finished->result;
    }
    ran_.events.push_back(std::move(*event));
    return true;
}

void Running::await_output(const std::string& text) {
    while (ran_.out.find(text) == std::string::npos)
        if (!take_event()) {
            ADD_FAILURE() << "ended without \"" << text << "\"; out: " << ran_.out << " err: " << ran_.err;
            return;
        }
}

Ran Running::finish() {
    while (take_event()) continue;
    stream_.reset();
    return std::move(ran_);
}

void Running::stop() { stream_->stream.stop(); }

void Running::write(std::string data) {
    (void)machinery_->await([&] { return stream_->stream.write(data); });
}

bool Running::started() const { return stream_->stream.started(); }

Session::Session(Machinery& machinery, std::shared_ptr<SessionHandle> handle)
    : machinery_(&machinery), handle_(std::move(handle)) {}

Running Session::start(BinaryInvocation invocation) {
    auto stream = machinery_->await([&]() -> awaitable<std::shared_ptr<StreamHandle>> {
        CommandStream started = co_await handle_->enforcer->run(invocation);
        co_return std::make_shared<StreamHandle>(StreamHandle{std::move(started)});
    });
    return {*machinery_, std::move(stream)};
}

BinaryInvocation Session::shell(std::string line) const { return handle_->enforcer->shell(std::move(line)); }

BinaryInvocation Session::python_command(std::string program) {
    return command("/usr/bin/python3").args("-I", "-S", "-c", std::move(program));
}

Ran Session::attack(const std::string& name, std::vector<std::string> args) {
    return run(command(test_program(name)).arg_list(std::move(args)));
}

const std::vector<std::string>& Session::warnings() const { return handle_->enforcer->warnings(); }

const std::shared_ptr<SandboxEnforcer>& Session::enforcer() const { return handle_->enforcer; }

void Session::close() {
    machinery_->await_void([this] { return handle_->enforcer->close(); });
}

SandboxTest::SandboxTest() = default;
SandboxTest::~SandboxTest() = default;

bool SandboxTest::is_root() { return ::geteuid() == 0; }

int SandboxTest::rounds(int usual) {
    const char* factor = std::getenv("SANDPIPE_ROUNDS");
    return factor ? std::max(1, static_cast<int>(usual * std::atof(factor))) : usual;
}

void SandboxTest::SetUp() {
    static int count = 0;
    home_ = test_area() + "/case-" + std::to_string(++count);
    make_trees();
    if (count == 1) keep_what_stays();
    descriptors_ = open_descriptors();
    machinery_ = std::make_unique<Machinery>();
}

/// What a process opens once and keeps, such as the launcher's image, is nothing left over.
void SandboxTest::keep_what_stays() {
    machinery_ = std::make_unique<Machinery>();
    (void)open().sh("true");
    close_runtime();
    before_.reset();
    machinery_.reset();
}

void SandboxTest::make_trees() {
    fs::create_directory(home_);
    for (const char* name : {"w", "o", "c"}) {
        const std::string tree = at(name);
        fs::create_directories(tree + "/dir/deep");
        fs::create_directory(tree + "/empty");
        for (const char* file : {"/file", "/two", "/dir/inner", "/dir/deep/last"})
            write_file(tree + file, std::string("content of ") + file + "\n");
    }
}

void SandboxTest::TearDown() {
    close_runtime();
    machinery_.reset();
    EXPECT_EQ(open_descriptors(), descriptors_) << "descriptors are left over";
    EXPECT_TRUE(children_of(::getpid()).empty()) << "child processes are left over";
    EXPECT_EQ(changes(), expected_changes_) << "the host's tree changed";
    remove_tree(home_);
}

void SandboxTest::close_runtime() {
    if (!machinery_) return;
    const std::vector<pid_t> below = descendants_of(::getpid());
    machinery_->await_void([this] { return machinery_->runtime().close(); });
    EXPECT_TRUE(all_end_within(below, std::chrono::seconds(5))) << "processes outlive the Runtime";
}

void SandboxTest::restart() {
    close_runtime();
    machinery_ = std::make_unique<Machinery>();
}

void SandboxTest::drive(const std::function<awaitable<void>()>& work) { machinery_->await_void(work); }

Runtime& SandboxTest::runtime() { return machinery_->runtime(); }

void SandboxTest::idle_for(std::chrono::milliseconds duration) {
    machinery_->context().restart();
    machinery_->context().run_for(duration);
}

void SandboxTest::seal() { before_.emplace(home_); }

std::vector<std::string> SandboxTest::changes() const {
    if (!before_) return {};
    std::vector<std::string> kept;
    for (std::string& change : before_->changes_to(HostSnapshot(home_))) {
        const std::string name = change.substr(2) + "/";
        const auto covers = [&](const std::string& ignored) { return name.starts_with(ignored + "/"); };
        if (std::none_of(ignored_.begin(), ignored_.end(), covers)) kept.push_back(std::move(change));
    }
    return kept;
}

SandboxPolicy SandboxTest::writable(std::vector<PathPattern> roots) const {
    SandboxPolicy policy;
    policy.filesystem.allow_write = std::move(roots);
    return policy;
}

Session SandboxTest::open(const SandboxPolicy& policy) { return open(policy, ProxySettings{}); }

Session SandboxTest::open(const SandboxPolicy& policy, const ProxySettings& proxies) {
    if (!before_) seal();
    SrtEnforcerOptions options;
    options.policy = policy;
    options.workspace = at("w");
    auto enforcer = machinery_->await([&] { return make_enforcer(machinery_->runtime(), options, proxies); });
    return {*machinery_, std::make_shared<SessionHandle>(SessionHandle{std::move(enforcer)})};
}

Session SandboxTest::narrow(const Session& session, const SandboxPolicy& policy) {
    auto enforcer = machinery_->await([&] { return session.enforcer()->narrow(policy); });
    return {*machinery_, std::make_shared<SessionHandle>(SessionHandle{std::move(enforcer)})};
}

std::string SandboxTest::refusal(const SandboxPolicy& policy) {
    try {
        (void)open(policy);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

void SandboxTest::host(const std::string& line) const {
    const std::string all = "cd '" + home_ + "' && { " + line + "\n}";
    if (std::system(all.c_str()) != 0) throw std::runtime_error("on the host: " + line);
}

std::vector<std::string> SandboxTest::act(Session& session, const std::string& place,
                                          std::vector<std::string> acts) {
    std::vector<std::string> args;
    for (std::string& text : acts) {
        std::istringstream words(text);
        if (!args.empty()) args.emplace_back("--");
        for (std::string word; words >> word;) {
            const std::size_t mark = word.find('@');
            args.push_back(mark == std::string::npos ? word : word.replace(mark, 1, place));
        }
    }
    const Ran ran = session.attack("attack_act", args);
    std::istringstream answers(ran.out);
    std::vector<std::string> results;
    for (std::string answer; std::getline(answers, answer);) results.push_back(answer);
    EXPECT_EQ(results.size(), acts.size()) << ran.out << ran.err << ran.denied().size();
    results.resize(acts.size());
    return results;
}

void SandboxTest::expect_acts(Session& session, const std::string& errors, const std::string& place,
                              const std::vector<std::string>& acts) {
    const std::vector<std::string> results = act(session, place, acts);
    for (std::size_t i = 0; i < acts.size(); ++i)
        EXPECT_NE(("|" + errors + "|").find("|" + results[i] + "|"), std::string::npos)
            << acts[i] << " in " << place << ": " << results[i] << ", not " << errors;
}

void SandboxTest::expect_twins(Session& session, const std::string& errors, const std::string& denied,
                               const std::string& allowed, const std::vector<std::string>& acts) {
    expect_acts(session, errors, denied, acts);
    expect_acts(session, "ok", allowed, acts);
}

}  // namespace sandpipe::testing
