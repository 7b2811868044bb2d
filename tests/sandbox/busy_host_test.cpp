#include <thread>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

/// What a host has to be told while its event loop does something else.
class BusyHost : public SandboxTest {
  protected:
    /// Threads of which each makes one denied call; when all of them are in it (or through) the leader ends with 3.
    BinaryInvocation flood(int threads) {
        return Session::python_command("import os,platform,threading,time\n"
                                       "threading.stack_size(65536)\n"
                                       "openat='56' if platform.machine()=='aarch64' else '257'\n"
                                       "through=[]\n"
                                       "def call():\n"
                                       "  try: os.open('" +
                                       at("o/made") +
                                       "',os.O_WRONLY|os.O_CREAT)\n"
                                       "  except OSError: through.append(1)\n"
                                       "  threading.Event().wait()\n"
                                       "threads=[threading.Thread(target=call,daemon=True) for i in range(" +
                                       std::to_string(threads) +
                                       ")]\n"
                                       "for t in threads: t.start()\n"
                                       "def is_in(t):\n"
                                       "  with open(f'/proc/self/task/{t.native_id}/syscall') as f: words=f.read().split()\n"
                                       "  return words[0]==openat\n"
                                       "while sum(map(is_in,threads))+len(through)<len(threads): time.sleep(.01)\n"
                                       "os._exit(3)\n");
    }
};

TEST_F(BusyHost, HearsOfEveryDenialAndOfTheEnd) {
    Session session = open();
    for (const int threads : {100, 300, 600}) {
        Running running = session.start(flood(threads));
        std::this_thread::sleep_for(std::chrono::milliseconds(3000));
        const Ran ran = running.finish();
        EXPECT_EQ(ran.result.cause, Cause::finished) << threads;
        EXPECT_EQ(ran.code(), 3) << threads;
        std::uint64_t told = 0;
        for (const Denial& denial : ran.result.denials) told += 1 + denial.folded;
        EXPECT_EQ(told, static_cast<std::uint64_t>(threads));
        EXPECT_EQ(session.sh("echo next").out, "next\n");
    }
}

}  // namespace
}  // namespace sandpipe::testing
