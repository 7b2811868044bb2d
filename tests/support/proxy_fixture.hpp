#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sandpipe/srt_enforcer.hpp>

#include "sandbox/cell_session.hpp"
#include "support/sandbox_fixture.hpp"
#include "support/test_server.hpp"

namespace sandpipe::testing {

/// Answers from a table; a name with several answers gives them in turn.
class TableResolver final : public Resolver {
  public:
    void add(const std::string& name, std::vector<std::string> addresses);
    [[nodiscard]] int lookups(const std::string& name);
    awaitable<std::vector<IpAddress>> resolve(std::string name) override;

  private:
    struct Entry {
        std::vector<std::vector<IpAddress>> answers;
        int lookups = 0;
    };
    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

/// Sessions with domain rules, against servers on the host's loopback. What ends with .test resolves by the table of
/// the fixture and nothing else resolves at all, so no test needs a network.
class ProxyTest : public SandboxTest {
  protected:
    Session open_domains(std::vector<std::string> allowed, std::vector<std::string> denied = {});

    /// For a Runtime of the test's own.
    [[nodiscard]] SrtEnforcerOptions options_for(std::vector<std::string> domains) const;

    [[nodiscard]] TableResolver& names() { return *resolver_; }
    [[nodiscard]] ProxyLimits& limits() { return limits_; }
    /// The policy that `open_domains` starts from.
    [[nodiscard]] SandboxPolicy& policy() { return policy_; }

    /// A program for the session's python: functions that speak to the proxies (see the .cpp), then `lines`.
    [[nodiscard]] static BinaryInvocation client(const std::string& lines);
    Ran talk(Session& session, const std::string& lines) { return session.run(client(lines)); }
    /// "host:port" of each denial of kind domain.
    [[nodiscard]] static std::vector<std::string> refused(const Ran& ran);
    [[nodiscard]] static const Denial& only_denial(const Ran& ran);

    void SetUp() override;

  private:
    std::shared_ptr<TableResolver> resolver_ = std::make_shared<TableResolver>();
    ProxyLimits limits_;
    SandboxPolicy policy_;
};

}  // namespace sandpipe::testing
