#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sandpipe/error.hpp>

#include <sandpipe/unique_fd.hpp>

#include "support/sandbox_fixture.hpp"

extern char** environ;

namespace sandpipe::testing {
namespace {

using std::chrono::milliseconds;

/// Kills one of the processes that hold a sandbox, while a command runs in it.
class Loss : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        token_ = unique_seconds();
    }
    Running start_tree(Session& session) {
        Running running = session.start(session.shell("trap '' TERM; setsid sleep " + token_ + " & sleep " +
                                                      token_ + " & echo up; wait"));
        running.await_output("up");
        return running;
    }
    void expect_gone() {
        EXPECT_TRUE(all_end_within(processes_with(token_), milliseconds(1000)));
        EXPECT_TRUE(processes_with(token_).empty());
    }
    /// "next" if the session runs a command, else what it says instead.
    static std::string next_command(Session& session) {
        try {
            const Ran ran = session.sh("echo next");
            if (ran.result.cause == Cause::finished) return ran.out;
            const auto* failure = std::get_if<NotStarted>(&ran.result.status);
            return failure && !failure->error ? "no reason" : "an error\n";
        } catch (const Error& error) {
            return error.text().empty() ? "no reason" : "an error\n";
        }
    }
    void expect_clear_answer(Session& session) {
        const std::string answer = next_command(session);
        EXPECT_TRUE(answer == "next\n" || answer == "an error\n") << answer;
    }
    static pid_t launcher() { return launchers_of(::getpid()).at(0); }
    static pid_t cell() { return children_of(launcher()).at(0); }
    /// The init above the tree's shell.
    pid_t init_of_tree() {
        for (const pid_t init : children_of(cell()))
            for (const pid_t below : descendants_of(init))
                for (const pid_t wanted : processes_with(token_))
                    if (below == wanted) return init;
        return -1;
    }
    std::string token_;
};

TEST_F(Loss, OfAnInit) {
    Session session = open();
    Running running = start_tree(session);
    const pid_t init = init_of_tree();
    ASSERT_GT(init, 0);
    ASSERT_EQ(::kill(init, SIGKILL), 0);
    EXPECT_EQ(running.finish().result.cause, Cause::lost);
    expect_gone();
    EXPECT_EQ(next_command(session), "next\n");
}

TEST_F(Loss, OfAnIdleInit) {
    Session session = open();
    EXPECT_EQ(session.sh("true").code(), 0);
    for (const pid_t init : children_of(cell())) ASSERT_EQ(::kill(init, SIGKILL), 0);
    expect_clear_answer(session);
    EXPECT_EQ(next_command(session), "next\n");
}

TEST_F(Loss, OfTheCell) {
    Session session = open();
    Running running = start_tree(session);
    ASSERT_EQ(::kill(cell(), SIGKILL), 0);
    EXPECT_EQ(running.finish().result.cause, Cause::lost);
    expect_gone();
    expect_clear_answer(session);
    EXPECT_EQ(open().sh("echo again").out, "again\n");
}

TEST_F(Loss, OfTheLauncher) {
    Session session = open();
    Running running = start_tree(session);
    ASSERT_EQ(::kill(launcher(), SIGKILL), 0);
    EXPECT_EQ(running.finish().result.cause, Cause::lost);
    expect_gone();
    expect_clear_answer(session);
    EXPECT_EQ(open().sh("echo again").out, "again\n");
}

TEST_F(Loss, AStoppedInitDoesNotKeepTheTreeFromEnding) {
    Session session = open();
    Running running = start_tree(session);
    const pid_t init = init_of_tree();
    ASSERT_GT(init, 0);
    ASSERT_EQ(::kill(init, SIGSTOP), 0);
    running.stop();
    running.stop();
    const Ran ran = running.finish();
    EXPECT_NE(ran.result.cause, Cause::finished);
    expect_gone();
}

/// A host program of its own, and its first line.
class Host {
  public:
    Host(const std::string& workspace, const std::string& seconds, const std::string& line = {}) {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) < 0) return;
        out_.reset(fds[0]);
        const unique_fd end(fds[1]);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, end.get(), 1);
        const std::string program = test_program("sandboxed_host");
        std::string words[] = {program, workspace, seconds, line};
        char* argv[] = {words[0].data(), words[1].data(), words[2].data(), line.empty() ? nullptr : words[3].data(),
                        nullptr};
        if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, environ) != 0) pid_ = -1;
        ::posix_spawn_file_actions_destroy(&actions);
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    bool is_up() {
        pollfd ready{out_.get(), POLLIN, 0};
        char line[3]{};
        return ::poll(&ready, 1, 20000) == 1 && ::read(out_.get(), line, 3) == 3 && line[0] == 'u';
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    unique_fd out_;
    pid_t pid_ = -1;
};

TEST_F(Loss, OfTheHost) {
    seal();
    for (const int signal : {SIGKILL, SIGTERM, SIGSEGV}) {
        Host host(at("w"), token_);
        ASSERT_TRUE(host.is_up());
        const std::vector<pid_t> below = descendants_of(host.pid());
        EXPECT_GE(below.size(), 5u);
        ASSERT_EQ(::kill(host.pid(), signal), 0);
        EXPECT_TRUE(all_end_within(below, milliseconds(1000))) << "after signal " << signal;
        expect_gone();
    }
}

TEST_F(Loss, OfAHostWhoseLauncherIsStopped) {
    seal();
    Host host(at("w"), token_);
    ASSERT_TRUE(host.is_up());
    const std::vector<pid_t> below = descendants_of(host.pid());
    ASSERT_EQ(::kill(launchers_of(host.pid()).at(0), SIGSTOP), 0);
    ASSERT_EQ(::kill(host.pid(), SIGKILL), 0);
    ASSERT_EQ(::kill(below.at(0), SIGCONT), 0);
    EXPECT_TRUE(all_end_within(below, milliseconds(1000)));
    expect_gone();
}

constexpr const char* kRefusedActs =
    "mkdir .vscode .idea no no-such; echo x > no; echo x > no-such/file; echo x > a.key; mkdir -p d; rmdir d no-such; "
    "ln -s x .bashrc; mv two .mcp.json; echo x > .git/hooks/pre-commit; mkdir -p .claude/commands; rmdir .claude; ";

TEST_F(Loss, OfOneOfTwoSessionsAtAnyMomentLeavesTheTreeAsItWas) {
    host(
        "export GIT_CONFIG_GLOBAL=/dev/null; git init -q w && git -C w add -A && git -C w -c user.name=h -c "
        "user.email=h@h "
        "commit -q -m first");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"no", "no-such/file", "**/*.key"};
    policy.filesystem.deny_read = {"nothing"};
    Session stays = open(policy);
    // What the acts that succeed make for a moment is removed by whoever is left.
    const std::string acts = std::string("exec 2>/dev/null; ") + kRefusedActs;
    unsigned seed = 1;
    for (int round = 0; round < rounds(10) && !HasFailure(); ++round) {
        Host dies(
            at("w"), token_,
            "exec 2>/dev/null; echo up; while :; do echo x > no; mkdir .vscode; echo x > a.key; ln -s x .bashrc; "
            "mv two .mcp.json; echo x > .git/hooks/pre-commit; done");
        Running running = stays.start(stays.shell(acts + "echo up; read x; " + acts).input(Input::stream()));
        if (round % 3 > 0) {
            ASSERT_TRUE(dies.is_up());
        }
        ::usleep(static_cast<useconds_t>(::rand_r(&seed) % 40'000));
        ASSERT_EQ(::kill(dies.pid(), SIGKILL), 0);
        running.await_output("up");
        host("test -z \"$(git --no-optional-locks -C w -c safe.directory='*' status --porcelain)\"");
        EXPECT_TRUE(changes().empty()) << "round " << round << ": " << changes().front();
        running.write("\n");
        running.finish();
        EXPECT_TRUE(changes().empty()) << "round " << round << ": " << changes().front();
    }
}

}  // namespace
}  // namespace sandpipe::testing
