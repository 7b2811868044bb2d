#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sandpipe/unique_fd.hpp>

#include <cstdio>

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

TEST_F(Ipc, MessageQueuesAreTheSessions) {
    const std::string name = "/sandpipe-attack-" + std::to_string(::getpid());
    const mqd_t queue = ::mq_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600, nullptr);
    if (queue < 0) {
        std::printf("skipped: no POSIX message queues that this user may make on this machine\n");
        return;
    }
    Session session = open();
    const std::string program =
        "import ctypes,os\n"
        "c=ctypes.CDLL(None,use_errno=True)\n"
        "def queue(flags): return c.mq_open(b'" + name + "',flags,0o600,None)\n"
        "print(queue(os.O_RDWR), ctypes.get_errno())\n"
        "q=queue(os.O_CREAT|os.O_RDWR)\n"
        "b=ctypes.create_string_buffer(8192)\n"
        "print(q>=0, c.mq_send(q,b'inside',6,0), c.mq_receive(q,b,8192,None), b.value)\n"
        "os.fchmod(q,0o640); os.fchown(q,-1,-1); os.utime(q); print(oct(os.fstat(q).st_mode))\n"
        "print(c.mq_unlink(b'" + name + "'))\n";
    const Ran ran = session.python(program);
    EXPECT_EQ(ran.out, "-1 2\nTrue 0 6 b'inside'\n0o100640\n0\n") << ran.err;
    EXPECT_TRUE(ran.denied().empty());
    mq_attr attributes{};
    EXPECT_EQ(::mq_getattr(queue, &attributes), 0);
    EXPECT_EQ(attributes.mq_curmsgs, 0) << "the command's message came to the host";
    ::mq_close(queue);
    EXPECT_EQ(::mq_unlink(name.c_str()), 0) << "the command removed the host's";
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
