#include "sandbox/network/proxy_variables.hpp"

#include <array>
#include <string>
#include <string_view>

#include "wire/proxy_ports.hpp"

namespace sandpipe {
namespace {

enum class Value : std::uint8_t { http, socks, none };

struct Variable {
    std::string_view name;
    Value value;
};

// Some programs know only one spelling of a name: curl takes http_proxy in lower case only. ALL_PROXY is the HTTP
// proxy, through which any protocol can be tunnelled: Python's httpx, and what builds on it, does not even start
// where that names a SOCKS proxy and the package for these is missing. FTP needs a second connection, and so SOCKS.
constexpr std::array kVariables{
    Variable{"HTTP_PROXY", Value::http},  Variable{"http_proxy", Value::http}, Variable{"HTTPS_PROXY", Value::http},
    Variable{"https_proxy", Value::http}, Variable{"ALL_PROXY", Value::http},  Variable{"all_proxy", Value::http},
    Variable{"FTP_PROXY", Value::socks},  Variable{"ftp_proxy", Value::socks}, Variable{"NO_PROXY", Value::none},
    Variable{"no_proxy", Value::none},
};

constexpr std::array<std::string_view, 3> kOwnLoopback{"localhost", "127.0.0.1", "::1"};

std::string without_proxy(const DomainRules& rules) {
    std::string list;
    for (const std::string_view name : kOwnLoopback)
        if (!rules.allows_host(std::get<Host>(parse_host(name)))) list += (list.empty() ? "" : ",") + std::string(name);
    return list;
}

std::string url(std::string_view scheme, std::uint16_t port) {
    return std::string(scheme) + "://127.0.0.1:" + std::to_string(port);
}

}  // namespace

Environment proxy_variables(const DomainRules& rules, bool relay) {
    const std::string http = url("http", wire::kHttpProxyPort);
    const std::string socks = url("socks5h", wire::kSocksProxyPort);
    const std::string none = without_proxy(rules);
    Environment variables = Environment::empty();
    for (const Variable& variable : kVariables)
        variables.set(std::string(variable.name), variable.value == Value::http    ? http
                                                  : variable.value == Value::socks ? socks
                                                                                   : none);
    variables.set("NODE_USE_ENV_PROXY", "1");
    if (relay)
        variables.set("GIT_SSH_COMMAND",
                      "ssh -o ProxyCommand='" + std::string(wire::kRelayPath) + " connect %h %p'");
    return variables;
}

}  // namespace sandpipe
