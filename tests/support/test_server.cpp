#include "support/test_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <sstream>
#include <stdexcept>

namespace sandpipe::testing {
namespace {

constexpr const char* kScript = R"(
import hashlib,http.server,socket,socketserver,struct,subprocess,sys,threading,time
kind,name=sys.argv[1:3]
accepted=0
sizes=[]
class Threads(socketserver.ThreadingTCPServer):
  allow_reuse_address=True; daemon_threads=True; request_queue_size=1024
  def process_request(self,request,address):
    global accepted
    accepted+=1
    super().process_request(request,address)
  def handle_error(self,request,address): pass
class Http(http.server.BaseHTTPRequestHandler):
  protocol_version='HTTP/1.1'
  def log_message(self,*a): pass
  def answer(self,body):
    self.send_response(200); self.send_header('Content-Length',str(len(body))); self.end_headers(); self.wfile.write(body)
  def do_GET(self):
    what,_,count=self.path.strip('/').partition('/')
    body=b'x'*int(count) if count.isdigit() else b''
    if what=='bytes': return self.answer(body)
    if what=='chunks':
      self.send_response(200); self.send_header('Transfer-Encoding','chunked'); self.end_headers()
      for i in range(0,len(body),1000):
        part=body[i:i+1000]; self.wfile.write(b'%x\r\n%s\r\n'%(len(part),part))
      return self.wfile.write(b'0\r\n\r\n')
    if what=='unsized':
      self.send_response(200); self.end_headers(); self.wfile.write(body); self.close_connection=True; return
    if what=='cut':
      self.send_response(200); self.send_header('Content-Length',count); self.end_headers()
      self.wfile.write(body[:len(body)//2]); self.close_connection=True; return
    if what=='head':
      self.send_response(200); self.send_header('X','y'*int(count)); self.send_header('Content-Length','0'); return self.end_headers()
    if what=='upgrade':
      self.wfile.write(b'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'); self.wfile.flush()
      while (data:=self.connection.recv(65536)): self.connection.sendall(data)
      self.close_connection=True; return
    self.answer(f'{name} GET {self.path} {self.headers["Host"]}\n'.encode())
  def do_POST(self): self.answer(self.rfile.read(int(self.headers['Content-Length'])))
class Echo(socketserver.BaseRequestHandler):
  def handle(self):
    while (data:=self.request.recv(65536)): self.request.sendall(data)
class Source(socketserver.StreamRequestHandler):
  def handle(self):
    self.wfile.write(b'y'*int(self.rfile.readline())); self.wfile.flush()
    self.request.shutdown(socket.SHUT_WR)
    while self.request.recv(65536): pass
class Sink(socketserver.BaseRequestHandler):
  def handle(self):
    digest=hashlib.sha256(); count=0
    while (data:=self.request.recv(65536)): digest.update(data); count+=len(data)
    sizes.append(count)
    self.request.sendall(f'{count} {digest.hexdigest()}\n'.encode())
class Mute(socketserver.BaseRequestHandler):
  def handle(self):
    while self.request.recv(65536): pass
    time.sleep(1000)
class Deaf(socketserver.BaseRequestHandler):
  def handle(self): time.sleep(1000)
class Reset(socketserver.BaseRequestHandler):
  def handle(self):
    self.request.sendall(b'x'*1000); self.request.recv(1)
    self.request.setsockopt(socket.SOL_SOCKET,socket.SO_LINGER,struct.pack('ii',1,0)); self.request.close()
class Banner(socketserver.StreamRequestHandler):
  def handle(self): self.wfile.write(b'SSH-2.0-testserver\r\n'); self.rfile.readline()
class Program(socketserver.BaseRequestHandler):
  def handle(self): subprocess.run(['/bin/sh','-c',name],stdin=self.request,stdout=self.request)
class Files(http.server.SimpleHTTPRequestHandler):
  def __init__(self,*a): super().__init__(*a,directory=name)
  def log_message(self,*a): pass
six=kind.endswith('6'); Threads.address_family=socket.AF_INET6 if six else socket.AF_INET
server=Threads(('::1' if six else '127.0.0.1',0),{'http':Http,'echo':Echo,'source':Source,'sink':Sink,'files':Files,'banner':Banner,'program':Program,'mute':Mute,'deaf':Deaf,'reset':Reset}[kind.rstrip('6')])
threading.Thread(target=server.serve_forever,daemon=True).start()
print(server.server_address[1],flush=True)
for line in sys.stdin: print(accepted,*sizes,flush=True)
)";

}  // namespace

TestServer::TestServer(const std::string& kind, const std::string& name) {
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) < 0 || ::pipe2(out, O_CLOEXEC) < 0) throw std::runtime_error("no pipes for a server");
    const unique_fd child_in(in[0]);
    const unique_fd child_out(out[1]);
    commands_.reset(in[1]);
    answers_.reset(out[0]);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::execl("/usr/bin/python3", "python3", "-I", "-S", "-c", kScript, kind.c_str(), name.c_str(), nullptr);
        ::_exit(127);
    }
    port_ = std::atoi(read_line().c_str());
    if (port_ == 0) throw std::runtime_error("the " + kind + " server did not start");
}

TestServer::~TestServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

std::vector<std::size_t> TestServer::ask() const {
    if (::write(commands_.get(), "\n", 1) != 1) throw std::runtime_error("the server is gone");
    std::istringstream answer(read_line());
    return {std::istream_iterator<std::size_t>(answer), {}};
}

int TestServer::connections() const { return static_cast<int>(ask().at(0)); }

std::vector<std::size_t> TestServer::sizes() const {
    const std::vector<std::size_t> answer = ask();
    return {answer.begin() + 1, answer.end()};
}

std::string TestServer::read_line() const {
    std::string line;
    char byte = 0;
    while (::read(answers_.get(), &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
}

}  // namespace sandpipe::testing
