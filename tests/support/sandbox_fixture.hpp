#pragma once

#include <gtest/gtest.h>
#include <sandpipe/awaitable.hpp>
#include <sandpipe/invocation.hpp>
#include <sandpipe/output_event.hpp>
#include <sandpipe/policy.hpp>
#include <sandpipe/result.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/as_user.hpp"
#include "support/host_snapshot.hpp"
#include "support/process_tree.hpp"

namespace sandpipe {
class SandboxEnforcer;
class Runtime;
struct ProxySettings;
}  // namespace sandpipe

namespace sandpipe::testing {

class Machinery;
struct SessionHandle;
struct StreamHandle;

/// A finished command: its result, and what its stream said.
struct Ran {
    CommandResult result;
    std::string out;  ///< stdout, or all output when merged
    std::string err;
    std::string story;  ///< all of it in the stream's order, a denial as "<operation resolved>"
    std::vector<OutputEvent> events;

    [[nodiscard]] int code() const { return result.exit_code; }
    /// "operation resolved ERRNO" of each denial.
    [[nodiscard]] std::vector<std::string> denied() const;
};

/// A command under way.
class Running {
  public:
    Running(Machinery& machinery, std::shared_ptr<StreamHandle> stream);
    /// Takes events until all of stdout (or merged output) so far contains `text`; fails the test when the
    /// command ends before.
    void await_output(const std::string& text);
    /// Takes all events that are left.
    Ran finish();
    void stop();
    void write(std::string data);
    [[nodiscard]] bool started() const;
    [[nodiscard]] const std::string& output() const { return ran_.out; }

  private:
    bool take_event();

    Machinery* machinery_;
    std::shared_ptr<StreamHandle> stream_;
    Ran ran_;
};

/// A sandbox session, driven synchronously.
class Session {
  public:
    Session(Machinery& machinery, std::shared_ptr<SessionHandle> handle);
    [[nodiscard]] Running start(BinaryInvocation invocation);
    [[nodiscard]] BinaryInvocation shell(std::string line) const;
    Ran run(BinaryInvocation invocation) { return start(std::move(invocation)).finish(); }
    Ran sh(std::string line) { return run(shell(std::move(line))); }
    /// By python3 -c.
    Ran python(std::string program) { return run(python_command(std::move(program))); }
    /// By an attack of tests/programs.
    Ran attack(const std::string& name, std::vector<std::string> args = {});
    [[nodiscard]] static BinaryInvocation python_command(std::string program);
    [[nodiscard]] const std::vector<std::string>& warnings() const;
    [[nodiscard]] const std::shared_ptr<SandboxEnforcer>& enforcer() const;
    void close();

  private:
    Machinery* machinery_;
    std::shared_ptr<SessionHandle> handle_;
};

/// Gives each test a directory on the host with three trees of the same content: `w`, the workspace, `o`,
/// which nothing grants, and `c`, for controls. Fails when anything changed on the host that the test did not
/// announce, and when descriptors or processes are left over.
class SandboxTest : public ::testing::Test {
  protected:
    SandboxTest();
    ~SandboxTest() override;
    void SetUp() override;
    void TearDown() override;

    /// A session with this policy; the first one also closes the preparation of the host's tree.
    Session open(const SandboxPolicy& policy);
    /// With proxies that are set up otherwise.
    Session open(const SandboxPolicy& policy, const ProxySettings& proxies);
    /// Reads allowed, writes below the workspace, no network.
    Session open() { return open(writable()); }
    /// By the session's `narrow`; throws what that throws.
    Session narrow(const Session& session, const SandboxPolicy& policy);
    /// The text of the Error that opening gives; "" if it opens.
    std::string refusal(const SandboxPolicy& policy);
    [[nodiscard]] SandboxPolicy writable(std::vector<PathPattern> roots = {"."}) const;

    /// From here on the host's tree is compared with what it is now.
    void seal();
    /// Exactly these entries, as in HostSnapshot::changes_to, may differ in the end.
    void expect_changes(std::vector<std::string> changes) { expected_changes_ = std::move(changes); }
    /// Nothing below this directory is compared.
    void ignore_below(std::string name) { ignored_.push_back(std::move(name)); }
    [[nodiscard]] std::vector<std::string> changes() const;

    /// Tries each act ("mkdir @/x", ...) with @ standing for `place`; "ok" or the errno's name of each.
    std::vector<std::string> act(Session& session, const std::string& place, std::vector<std::string> acts);
    /// Each act is refused with one of `errors` ("EROFS|EACCES") in `denied` and works in `allowed`, in the
    /// same session, and each refusal is one denial.
    void expect_twins(Session& session, const std::string& errors, const std::string& denied,
                      const std::string& allowed, const std::vector<std::string>& acts);
    /// Each act answers one of `errors`.
    void expect_acts(Session& session, const std::string& errors, const std::string& place,
                     const std::vector<std::string>& acts);

    /// A path below the test's directory.
    [[nodiscard]] std::string at(const std::string& name) const { return home_ + "/" + name; }
    /// Runs a line of the host's shell in the test's directory.
    void host(const std::string& line) const;
    [[nodiscard]] static bool is_root();
    /// How often loops run: `usual` times SANDPIPE_ROUNDS (default 1).
    [[nodiscard]] static int rounds(int usual);

    /// Closes the runtime and makes a new one, as after a loss of the launcher.
    void restart();
    /// Runs a coroutine on the host's event loop to its end; throws what it throws.
    void drive(const std::function<awaitable<void>()>& work);
    [[nodiscard]] Runtime& runtime();
    /// Lets the host's event loop run for a while although nobody asks for events.
    void idle_for(std::chrono::milliseconds duration);
    /// Closes the session's runtime and checks that no process is left below the test.
    void close_runtime();

  private:
    void make_trees();
    void keep_what_stays();

    std::string home_;
    std::size_t descriptors_ = 0;
    std::unique_ptr<Machinery> machinery_;
    std::optional<HostSnapshot> before_;
    std::vector<std::string> expected_changes_;
    std::vector<std::string> ignored_;
};

}  // namespace sandpipe::testing
