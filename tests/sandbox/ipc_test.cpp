#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sandpipe/unique_fd.hpp>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

class Ipc : public SandboxTest {};

TEST_F(Ipc, SysVSharedMemoryOfTheHostIsInvisible) {
    const int id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    ASSERT_GE(id, 0);
    Session session = open();
    EXPECT_EQ(session.sh("tail -n +2 /proc/sysvipc/shm | wc -l").out, "0\n");
    EXPECT_NE(session.sh("ipcrm -m " + std::to_string(id)).code(), 0);
    EXPECT_EQ(session.sh("ipcmk -M 64 > /dev/null && tail -n +2 /proc/sysvipc/shm | wc -l").out, "1\n");
    EXPECT_EQ(::shmctl(id, IPC_RMID, nullptr), 0) << "the command removed it";
}

TEST_F(Ipc, PosixSharedMemoryOfTheHostIsInvisible) {
    const std::string name = "/sandpipe-attack-" + std::to_string(::getpid());
    const unique_fd memory(::shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    ASSERT_TRUE(memory);
    Session session = open();
    EXPECT_EQ(session.sh("ls -A /dev/shm | wc -l; echo x > /dev/shm" + name + "; cat /dev/shm" + name).out,
              "0\nx\n");
    struct stat status {};
    ::fstat(memory.get(), &status);
    EXPECT_EQ(status.st_size, 0);
    EXPECT_EQ(::shm_unlink(name.c_str()), 0);
}

TEST_F(Ipc, PythonsMultiprocessingWorks) {
    Session session = open();
    const Ran ran = session.run(
        command("/usr/bin/python3")
            .args("-c",
                  "import multiprocessing as m\n"
                  "def f(x): return x*x\n"
                  "with m.Pool(2) as p: print(sum(p.map(f,range(10))))\n"
                  "q=m.Queue(); l=m.Lock(); v=m.Value('i',3)\n"
                  "c=m.Process(target=q.put,args=(7,)); c.start(); print(q.get(), v.value); c.join()\n"
                  "from multiprocessing import shared_memory as s\n"
                  "a=s.SharedMemory(create=True,size=64); b=s.SharedMemory(name=a.name); a.buf[0]=5; "
                  "print(b.buf[0]); b.close(); a.close(); a.unlink()\n"));
    EXPECT_EQ(ran.out, "285\n7 3\n5\n") << ran.err;
}

TEST_F(Ipc, TheHostsNameIsNotShown) {
    EXPECT_EQ(open().sh("uname -n; cat /proc/sys/kernel/hostname").out, "localhost\nlocalhost\n");
}

TEST_F(Ipc, ProcessGroupsAndSessionsOfTheHostAreOutOfReach) {
    Session session = open();
    const Ran ran = session.python(
        "import os,signal\nprint(os.getppid(), os.getsid(0)>0)\n"
        "for p in (" +
        std::to_string(::getpid()) + "," + std::to_string(::getppid()) +
        "):\n"
        "  try: os.kill(p,0); print('reached')\n  except OSError as e: print(e.errno)\n"
        "os.kill(0,0)\n");
    EXPECT_EQ(ran.out, "1 True\n3\n3\n") << ran.err;
}

}  // namespace
}  // namespace sandpipe::testing
