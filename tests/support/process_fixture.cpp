#include "support/process_fixture.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLauncherName = "sandpipe-launcher";

std::string proc(pid_t pid, const std::string& name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// The embedded image and what sanitizers open stay for good.
bool stays(const std::string& target) { return target.starts_with("/memfd:sandpipe-launcher"); }

std::vector<std::string> own_descriptors() {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;  // the iterator's own
        const std::string target = fs::read_symlink(entry.path(), gone).string();
        if (!gone && !stays(target) && !target.ends_with("/fd"))
            found.push_back("descriptor " + entry.path().filename().string() + " -> " + target);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> own_children() {
    std::vector<std::string> found;
    for (const ProcessFacts& facts : all_processes())
        if (facts.parent == ::getpid())
            found.push_back("child " + std::to_string(facts.pid) + " in state " + facts.state + ": " +
                            command_line(facts.pid));
    return found;
}

std::vector<std::string> own_signals() {
    std::vector<std::string> found;
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (int signal = 1; signal < NSIG; ++signal) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) < 0) continue;
        std::ostringstream text;
        text << "signal " << signal << " handler " << reinterpret_cast<const void*>(action.sa_handler)
             << " blocked " << sigismember(&mask, signal);
        found.push_back(text.str());
    }
    return found;
}

void append_new(std::string& text, const std::vector<std::string>& now,
                const std::vector<std::string>& before) {
    for (const std::string& entry : now)
        if (std::find(before.begin(), before.end(), entry) == before.end())
            text += "left over: " + entry + "\n";
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

bool holds_pidfd_of(pid_t pid, pid_t host) {
    std::error_code gone;
    for (fs::directory_iterator entry(proc(pid, "fdinfo"), gone); !gone && entry != end(entry);
         entry.increment(gone))
        if (has_line(read_file(entry->path()), "Pid:\t" + std::to_string(host))) return true;
    return false;
}

bool has_variable(pid_t pid, const std::string& entry) {
    const std::string nul(1, '\0');
    return (nul + read_file(proc(pid, "environ"))).find(nul + entry + nul) != std::string::npos;
}

void end_process(pid_t pid) {
    if (is_alive(pid)) ::kill(pid, SIGKILL);
}

std::string describe(const std::vector<pid_t>& pids) {
    std::string text;
    for (const pid_t pid : pids) {
        const auto facts = process_facts(pid);
        text += "  " + std::to_string(pid) + " " + std::string(1, facts ? facts->state : '-') + " " +
                command_line(pid) + "\n";
    }
    return text;
}

}  // namespace

std::optional<ProcessFacts> process_facts(pid_t pid) {
    const std::string stat = read_file(proc(pid, "stat"));
    const std::size_t name_end = stat.rfind(')');
    ProcessFacts facts;
    facts.pid = pid;
    if (name_end == std::string::npos ||
        std::sscanf(stat.c_str() + name_end + 1, " %c %d", &facts.state, &facts.parent) != 2)
        return {};
    return facts;
}

std::vector<ProcessFacts> all_processes() {
    std::vector<ProcessFacts> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const int pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0) continue;
        if (const auto facts = process_facts(pid)) found.push_back(*facts);
    }
    return found;
}

bool is_alive(pid_t pid) {
    const auto facts = process_facts(pid);
    return facts && facts->state != 'Z' && facts->state != 'X';
}

std::vector<pid_t> launchers_of(pid_t host) {
    std::vector<pid_t> found;
    for (const ProcessFacts& facts : all_processes())
        if (command_line(facts.pid).starts_with(kLauncherName) && holds_pidfd_of(facts.pid, host))
            found.push_back(facts.pid);
    return found;
}

std::vector<pid_t> descendants_of(pid_t pid) {
    std::multimap<pid_t, pid_t> children;
    for (const ProcessFacts& facts : all_processes()) children.emplace(facts.parent, facts.pid);
    std::vector<pid_t> found{pid};
    for (std::size_t at = 0; at < found.size(); ++at) {
        const auto [first, last] = children.equal_range(found[at]);
        for (auto child = first; child != last; ++child) found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
}

std::vector<pid_t> zombies_of(pid_t parent) {
    std::vector<pid_t> found;
    for (const ProcessFacts& facts : all_processes())
        if (facts.parent == parent && facts.state == 'Z') found.push_back(facts.pid);
    return found;
}

std::string command_line(pid_t pid) {
    std::string text = read_file(proc(pid, "cmdline"));
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
}

std::string read_file(const fs::path& path) {
    // Not by a stream: those throw where a process ends while its file in /proc is read.
    std::string content;
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (!file) return content;
    std::array<char, 4096> part;
    for (std::size_t got; (got = std::fread(part.data(), 1, part.size(), file)) > 0;)
        content.append(part.data(), got);
    std::fclose(file);
    return content;
}

void write_file(const fs::path& path, const std::string& content, unsigned mode) {
    std::ofstream(path, std::ios::binary) << content;
    fs::permissions(path, static_cast<fs::perms>(mode));
}

int rounds(int count) {
    const char* factor = std::getenv("SANDPIPE_ROUNDS");
    return factor ? std::max(1, static_cast<int>(count * std::atof(factor))) : count;
}

bool eventually(const std::function<bool()>& done, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

HostState HostState::now() {
    HostState state;
    state.descriptors_ = own_descriptors();
    state.children_ = own_children();
    state.signals_ = own_signals();
    return state;
}

std::string HostState::difference_to(const HostState& before) const {
    std::string text;
    append_new(text, descriptors_, before.descriptors_);
    append_new(text, children_, before.children_);
    append_new(text, signals_, before.signals_);
    return text;
}

void ProcessFixture::SetUp() {
    before_ = HostState::now();
    const char* home = std::getenv("HOME");
    home_before_ = home ? home : "/";
    std::string pattern = (fs::temp_directory_path() / "sandpipe-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    scratch_ = pattern;
    ::setenv("HOME", pattern.c_str(), 1);
    io_ = std::make_unique<asio::io_context>();
}

void ProcessFixture::TearDown() {
    if (io_ && runtime_) close_runtime();
    executor_.reset();
    runtime_.reset();
    if (io_) drive();
    io_.reset();
    expect_nothing_left();
    ::setenv("HOME", home_before_.c_str(), 1);
    fs::remove_all(scratch_);
}

void ProcessFixture::expect_nothing_left() {
    // The contract says 1 s; other work on the machine gets another.
    const bool ended = eventually([this] { return own_processes().empty(); });
    EXPECT_TRUE(ended) << "processes are left over:\n" << describe(own_processes());
    for (const pid_t pid : own_processes()) end_process(pid);
    EXPECT_EQ(HostState::now().difference_to(*before_), "");
}

Runtime& ProcessFixture::runtime() {
    if (!runtime_) runtime_.emplace(io_->get_executor());
    return *runtime_;
}

void ProcessFixture::use(RuntimeOptions options) {
    runtime_.emplace(io_->get_executor(), std::move(options));
}

std::shared_ptr<BinaryExecutor> ProcessFixture::executor() {
    if (!executor_) executor_ = local_executor(runtime());
    return executor_;
}

void ProcessFixture::close_runtime() {
    run(runtime_->close());
    runtime_.reset();
}

ProcessFixture::ResultBox ProcessFixture::spawn(BinaryInvocation invocation) {
    auto box = std::make_shared<std::optional<BinaryExecResult>>();
    asio::co_spawn(io(), executor()->exec(std::move(invocation)),
                   [box](std::exception_ptr error, BinaryExecResult value) {
                       if (!error) *box = std::move(value);
                   });
    return box;
}

void ProcessFixture::drive() {
    io_->restart();
    io_->poll();
}

bool ProcessFixture::drive_until(const std::function<bool()>& done, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        io_->restart();
        io_->run_one_for(5ms);
    }
    return true;
}

std::vector<pid_t> ProcessFixture::own_processes() const {
    std::vector<pid_t> found = launchers_of(::getpid());
    for (const pid_t pid : commands_below(found)) found.push_back(pid);
    return found;
}

std::vector<pid_t> ProcessFixture::own_commands() const { return commands_below(launchers_of(::getpid())); }

std::vector<pid_t> ProcessFixture::commands_below(const std::vector<pid_t>& launchers) const {
    std::set<pid_t> found;
    for (const pid_t launcher : launchers)
        for (const pid_t pid : descendants_of(launcher))
            if (is_alive(pid)) found.insert(pid);
    for (const ProcessFacts& facts : all_processes()) {
        if (facts.pid == ::getpid() || facts.parent == ::getpid() || !is_alive(facts.pid)) continue;
        if (has_variable(facts.pid, "HOME=" + scratch_.string())) found.insert(facts.pid);
    }
    return {found.begin(), found.end()};
}

BinaryInvocation sh(const std::string& line) { return command("/bin/sh").args("-c", line); }

std::string program(const std::string& name) { return std::string(SANDPIPE_TEST_PROGRAMS) + "/" + name; }

}  // namespace sandpipe::testing
