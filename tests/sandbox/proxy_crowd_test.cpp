// Commands that take all that a proxy gives: other sessions, and the host, go on.
#include <gmock/gmock.h>

#include <sys/resource.h>

#include <filesystem>
#include <iterator>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using namespace std::chrono_literals;

class ProxyCrowd : public ProxyTest {
  protected:
    static std::size_t descriptors() {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
    }
    /// Asks for `count` tunnels, whether they are answered or not, and holds them.
    static std::string hold(const TestServer& server, int count) {
        return "p=" + std::to_string(server.port()) + "\nheld=[]\nfor i in range(" + std::to_string(count) + R"():
  s=proxy(); s.sendall(f'CONNECT 127.0.0.1:{p} HTTP/1.1\r\n\r\n'.encode()); held.append(s)
print('up',flush=True); time.sleep(1000)
)";
    }
};

/// The host's soft limit of descriptors, lowered for a test.
class FewDescriptors {
  public:
    explicit FewDescriptors(rlim_t count) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit few{count, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST_F(ProxyCrowd, SeveralSessionsLeaveTheHostItsDescriptors) {
    constexpr std::size_t kLimit = 512;
    const TestServer echo("echo");
    const TestServer server("http", "origin");
    const FewDescriptors few(kLimit);
    std::vector<Session> sessions;
    std::vector<Running> crowds;
    const std::size_t before = descriptors();
    for (int i = 0; i < 4; ++i) {
        sessions.push_back(open_domains({"127.0.0.1"}));
        crowds.push_back(sessions.back().start(client(hold(echo, 200))));
        crowds.back().await_output("up");
    }
    idle_for(500ms);
    const std::size_t held = descriptors() - before;
    EXPECT_GT(held, kLimit / 4) << "the crowds have their share";
    EXPECT_LT(descriptors(), kLimit - kLimit / 8) << "the host needs some too";
    // Who comes last is served too.
    Session last = open_domains({"127.0.0.1"});
    const Ran ran = talk(last, "print([get('http://127.0.0.1" + server.at() + "/').split()[1] for _ in range(20)])");
    EXPECT_EQ(ran.out.substr(0, 6), "['200'") << ran.err;
    EXPECT_EQ(ran.out.find("50"), std::string::npos);
    for (Running& crowd : crowds) {
        crowd.stop();
        (void)crowd.finish();
    }
}

}  // namespace
}  // namespace sandpipe::testing
