#include "sandbox/network/proxy_variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sandpipe {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<std::string> block(std::vector<std::string> allowed, bool relay = true) {
    NetworkPolicy policy;
    policy.allowed_domains = std::move(allowed);
    return proxy_variables(DomainRules(policy), relay).lay_over({"HTTP_PROXY=http://host.example:8080", "A=b"}, {});
}

TEST(ProxyVariables, EverySpellingAndNothingElseOfTheCallers) {
    const std::vector<std::string> env = block({"a.b"});
    for (const char* entry :
         {"HTTP_PROXY=http://127.0.0.1:3128", "http_proxy=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3128",
          "https_proxy=http://127.0.0.1:3128", "ALL_PROXY=http://127.0.0.1:3128", "all_proxy=http://127.0.0.1:3128",
          "FTP_PROXY=socks5h://127.0.0.1:1080", "ftp_proxy=socks5h://127.0.0.1:1080",
          "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1", "A=b",
          "GIT_SSH_COMMAND=ssh -o ProxyCommand='/dev/sandpipe/launcher connect %h %p'"})
        EXPECT_THAT(env, Contains(entry));
    EXPECT_EQ(env.size(), 13U);
    EXPECT_EQ(block({"a.b"}, false).size(), 12U) << "no relay, no command of it";
}

TEST(ProxyVariables, WhatIsGrantedOfTheHostsLoopbackGoesThroughTheProxy) {
    EXPECT_THAT(block({"localhost:8080"}), Contains("NO_PROXY=127.0.0.1,::1"));
    EXPECT_THAT(block({"127.0.0.1:8080"}), Contains("NO_PROXY=localhost,::1"));
    EXPECT_THAT(block({"[::1]:8080"}), Contains("no_proxy=localhost,127.0.0.1"));
    EXPECT_THAT(block({"*.localhost.b", "10.0.0.5"}), Contains("NO_PROXY=localhost,127.0.0.1,::1"));
    EXPECT_THAT(block({"localhost", "127.0.0.1", "::1"}), Contains("NO_PROXY="));
}

}  // namespace
}  // namespace sandpipe
