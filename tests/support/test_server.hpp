#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sandpipe::testing {

/// A server on 127.0.0.1 of the host, as a process that ends with this object. Kinds, with a 6 behind them on ::1:
///   http   HTTP/1.1 with keep-alive: every GET answers "NAME METHOD PATH HOST\n", /bytes/N that many, /chunks/N in
///          chunks, /unsized/N until its close, /cut/N half of N, /head/N a header field of N; POST answers its body;
///          /upgrade echoes after a 101
///   echo   sends back what it gets, and its end
///   source sends as many bytes as the first line asks for, then its end, and reads until the client's
///   banner greets like an ssh server, reads a line and closes
///   files  HTTP/1.0 from the directory NAME
///   program runs the shell line NAME with each connection as its stdin and stdout
///   sink   reads to the client's end, then answers with the count and SHA-256
///   reset  sends 1000 bytes, waits for one, and breaks the connection off
///   deaf   reads nothing and says nothing
///   mute   reads and says nothing, not even at the client's end
class TestServer {
  public:
    explicit TestServer(const std::string& kind, const std::string& name = "server");
    TestServer(const TestServer&) = delete;
    TestServer& operator=(const TestServer&) = delete;
    ~TestServer();

    [[nodiscard]] int port() const noexcept { return port_; }
    /// ":PORT"
    [[nodiscard]] std::string at() const { return ":" + std::to_string(port_); }
    /// Connections that it has accepted so far.
    [[nodiscard]] int connections() const;
    /// Bytes that each connection of a sink has brought, in the order of their ends.
    [[nodiscard]] std::vector<std::size_t> sizes() const;

  private:
    [[nodiscard]] std::vector<std::size_t> ask() const;
    std::string read_line() const;

    pid_t pid_ = -1;
    unique_fd commands_;
    unique_fd answers_;
    int port_ = 0;
};

}  // namespace sandpipe::testing
