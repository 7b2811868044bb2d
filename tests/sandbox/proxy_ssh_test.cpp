// A real ssh against a real sshd, through the relay in the sandbox and the proxy.
#include <gmock/gmock.h>

#include <unistd.h>

#include "support/proxy_fixture.hpp"

namespace sandpipe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A server that knows one user by one key, both made here. Its own view of /run and /etc/passwd gives it what only an
/// installation has: a directory to give up its privileges in, and a user with a shell.
constexpr const char* kServe = R"sh(set -e
mount -t tmpfs none /run
mkdir /run/sshd
printf 'tester:x:%s:%s::%s:/bin/sh\nsshd:x:65533:65534::/run/sshd:/bin/false\n' "$(id -u)" "$(id -g)" "$1" >/run/passwd
mount --bind /run/passwd /etc/passwd
exec /usr/sbin/sshd -i -f /dev/null -h "$1/host_key" -o AuthorizedKeysFile="$1/key.pub" -o StrictModes=no \
    -o UsePAM=no -o PidFile=none -o PermitRootLogin=yes
)sh";

class ProxySsh : public ProxyTest {
  protected:
    void SetUp() override {
        ProxyTest::SetUp();
        for (const char* program : {"/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"})
            if (::access(program, X_OK) < 0)
                GTEST_SKIP() << program << " is missing (Debian packages openssh-client, openssh-server)";
        host("mkdir c/ssh && cd c/ssh && for name in key host_key; do ssh-keygen -q -t ed25519 -N '' -f $name; done && "
             "echo origin $(cat host_key.pub) >known_hosts");
        write_file(at("c/ssh/serve"), kServe);
        names().add("git.test", {"127.0.0.1"});
        names().add("bad.test", {"127.0.0.1"});
    }
    /// For TestServer: unshared so that what it mounts is its own.
    std::string serve() const {
        const std::string user = "--user --map-user=" + std::to_string(::getuid()) +
                                 " --map-group=" + std::to_string(::getgid()) + " --keep-caps ";
        const std::string place = at("c/ssh");
        return "exec unshare --mount " + (is_root() ? "" : user) + "/bin/sh '" + place + "/serve' '" + place + "'";
    }
    /// A line of shell by which ssh, with what the session has set for it, runs `rest`.
    std::string ssh(const TestServer& server, const std::string& rest) const {
        return "eval \"$GIT_SSH_COMMAND " + options(server) + rest + "\"";
    }
    std::string options(const TestServer& server) const {
        const std::string place = at("c/ssh");
        return "-F none -o BatchMode=yes -o LogLevel=ERROR -o HostKeyAlias=origin -o UserKnownHostsFile=" + place +
               "/known_hosts -i " + place + "/key -p " + std::to_string(server.port()) + " ";
    }
    Session open_for(const TestServer& server) {
        return open_domains({"git.test" + server.at(), "127.0.0.1" + server.at()});
    }
};

TEST_F(ProxySsh, RunsACommand) {
    const TestServer server("program", serve());
    Session session = open_for(server);
    const Ran ran =
        session.sh("seq 1 200000 | " + ssh(server, "tester@git.test 'tail -n 1; echo to stderr >&2; exit 7'"));
    EXPECT_EQ(ran.out, "200000\n");
    EXPECT_EQ(ran.err, "to stderr\n");
    EXPECT_EQ(ran.code(), 7);
    EXPECT_EQ(session.sh(ssh(server, "tester@git.test 'seq 1 200000' </dev/null | tail -n 1")).out, "200000\n");
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(ProxySsh, GitClonesAndPushes) {
    ignore_below("c/r.git");
    ignore_below("w/clone");
    host("git init -q --bare -b main c/r.git && mkdir c/src && cd c/src && git init -q && "
         "git -c user.name=n -c user.email=e@x commit -q --allow-empty -m one && git push -q ../r.git HEAD:main");
    const TestServer server("program", serve());
    Session session = open_for(server);
    const Ran ran =
        session.sh("export GIT_SSH_COMMAND=\"$GIT_SSH_COMMAND " + options(server) +
                   "\"; git clone -q ssh://tester@git.test" + server.at() + at("c/r.git") +
                   " clone && cd clone && git -c user.name=n -c user.email=e@x commit -q --allow-empty -m two && "
                   "git push -q && git log --format=%s");
    EXPECT_EQ(ran.out, "two\none\n") << ran.err;
    host("test \"$(git --git-dir=c/r.git log -1 --format=%s main)\" = two");
}

TEST_F(ProxySsh, IsRefusedByNameAndByPort) {
    const TestServer server("program", serve());
    const TestServer other("program", serve());
    Session session = open_for(server);
    for (const std::string& line : {ssh(server, "tester@bad.test true"), ssh(other, "tester@git.test true")}) {
        const Ran ran = session.sh(line);
        EXPECT_EQ(ran.code(), 255);
        EXPECT_THAT(ran.err, HasSubstr("the policy of this sandbox does not allow"));
        EXPECT_EQ(only_denial(ran).kind, DenialKind::domain);
    }
    EXPECT_THAT(refused(session.sh(ssh(other, "tester@git.test true"))), ElementsAre("git.test" + other.at()));
    // Without the relay there is no way out at all.
    const Ran direct = session.sh("ssh " + options(server) + "tester@127.0.0.1 true");
    EXPECT_EQ(direct.code(), 255);
    EXPECT_EQ(server.connections() + other.connections(), 0);
    EXPECT_EQ(session.sh(ssh(server, "tester@git.test true")).code(), 0);
}

}  // namespace
}  // namespace sandpipe::testing
