#include "support/proxy_fixture.hpp"

#include <stdexcept>
#include <system_error>

#include <asio/error.hpp>

namespace sandpipe::testing {
namespace {

// tunnel(target): a socket and the status of the HTTP proxy's answer to CONNECT; socks(host, port): a socket and the
// SOCKS5 reply; ask(text): everything that the HTTP proxy answers until it closes; read(s): everything until the end.
constexpr const char* kClient = R"(
import hashlib,socket,struct,sys,time
def proxy(port=3128):
  s=socket.create_connection(('127.0.0.1',port)); s.settimeout(30); return s
def read(s):
  parts=[]
  while (part:=s.recv(65536)): parts.append(part)
  return b''.join(parts)
def head(s):
  data=b''
  while not data.endswith(b'\r\n\r\n'):
    c=s.recv(1)
    if not c: break
    data+=c
  return data.decode()
def tunnel(target):
  s=proxy(); s.sendall(f'CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n'.encode())
  return s,int(head(s).split()[1])
def ask(text):
  s=proxy(); s.sendall(text if isinstance(text,bytes) else text.encode()); return read(s).decode()
def get(url,extra=''):
  return ask(f'GET {url} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{extra}\r\n')
def socks(host,port):
  s=proxy(1080); s.sendall(b'\x05\x01\x00')
  assert s.recv(2)==b'\x05\x00'
  try: address=b'\x01'+socket.inet_pton(socket.AF_INET,host)
  except OSError:
    try: address=b'\x04'+socket.inet_pton(socket.AF_INET6,host)
    except OSError: address=b'\x03'+bytes([len(host)])+host.encode()
  s.sendall(b'\x05\x01\x00'+address+struct.pack('>H',port))
  return s,s.recv(10)[1]
)";

}  // namespace

void TableResolver::add(const std::string& name, std::vector<std::string> addresses) {
    std::vector<IpAddress> answer;
    for (const std::string& address : addresses) answer.push_back(IpAddress::parse(address).value());
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_[name].answers.push_back(std::move(answer));
}

int TableResolver::lookups(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_[name].lookups;
}

awaitable<std::vector<IpAddress>> TableResolver::resolve(std::string name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) throw std::system_error(asio::error::host_not_found);
    Entry& entry = found->second;
    co_return entry.answers.at(static_cast<std::size_t>(entry.lookups++) % entry.answers.size());
}

void ProxyTest::SetUp() {
    SandboxTest::SetUp();
    policy_ = writable();
}

Session ProxyTest::open_domains(std::vector<std::string> allowed, std::vector<std::string> denied) {
    policy_.network.allowed_domains = std::move(allowed);
    policy_.network.denied_domains = std::move(denied);
    ProxySettings settings;
    settings.resolver = resolver_;
    settings.limits = limits_;
    return open(policy_, settings);
}

SrtEnforcerOptions ProxyTest::options_for(std::vector<std::string> domains) const {
    SrtEnforcerOptions options;
    options.policy = writable();
    options.policy.network.allowed_domains = std::move(domains);
    options.workspace = at("w");
    return options;
}

BinaryInvocation ProxyTest::client(const std::string& lines) { return Session::python_command(kClient + lines); }

std::vector<std::string> ProxyTest::refused(const Ran& ran) {
    std::vector<std::string> found;
    for (const Denial& denial : ran.result.denials)
        if (denial.kind == DenialKind::domain) found.push_back(denial.host + ":" + std::to_string(denial.port));
    return found;
}

const Denial& ProxyTest::only_denial(const Ran& ran) {
    if (ran.result.denials.size() != 1)
        throw std::runtime_error(std::to_string(ran.result.denials.size()) + " denials; out: " + ran.out + ran.err);
    return ran.result.denials.front();
}

}  // namespace sandpipe::testing
