#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/sandbox_fixture.hpp"

namespace fs = std::filesystem;

namespace sandpipe::testing {
namespace {

class OwnPlaces : public SandboxTest {};

TEST_F(OwnPlaces, TmpIsPrivateSharedByTheSessionAndGoneAfterwards) {
    const std::string name = "/tmp/sandpipe-own-places-" + std::to_string(::getpid());
    write_file(name, "the host's");
    Session session = open();
    Session other = open();
    EXPECT_EQ(session.sh("ls -A /tmp | wc -l; echo $TMPDIR").out, "0\n/tmp\n");
    EXPECT_EQ(session.sh("echo mine > " + name + "; mktemp > /dev/null; cat <<E\nhere\nE").out, "here\n");
    EXPECT_EQ(session.sh("cat " + name + "; ls -A $TMPDIR | wc -l").out, "mine\n2\n");
    EXPECT_EQ(other.sh("ls -A /tmp | wc -l").out, "0\n");
    EXPECT_EQ(read_file(name), "the host's");
    session.close();
    EXPECT_EQ(open().sh("ls -A /tmp | wc -l").out, "0\n");
    fs::remove(name);
}

TEST_F(OwnPlaces, TmpHasALimit) {
    SandboxPolicy policy = writable();
    policy.limits.tmp_bytes = 1 << 20;
    Session session = open(policy);
    EXPECT_EQ(session.sh("head -c 500000 /dev/zero > /tmp/a").code(), 0);
    const Ran ran = session.sh("head -c 2000000 /dev/zero > /tmp/b");
    EXPECT_NE(ran.code(), 0);
    EXPECT_NE(ran.err.find("No space"), std::string::npos) << ran.err;
    EXPECT_TRUE(ran.denied().empty());
}

TEST_F(OwnPlaces, TmpAllowsWhatTmpAllows) {
    Session session = open();
    expect_acts(session, "ok", "/tmp",
                {"create @/a", "mkdir @/d", "fifo @/f", "symlink a @/l", "link @/a @/h", "rename @/a @/d/a",
                 "chmod @/h", "unlink @/h", "truncate @/d/a", "unnamed @", "exchange @/d @/f"});
}

TEST_F(OwnPlaces, AWorkspaceUnderTmpIsSeenAndItsSiblingsAreNot) {
    const std::string base = "/tmp/sandpipe-own-workspace-" + std::to_string(::getpid());
    fs::create_directories(base + "/w");
    write_file(base + "/secret", "x");
    SandboxPolicy policy = writable({PathPattern(base + "/w")});
    Session session = open(policy);
    EXPECT_EQ(session.sh("cd " + base + "/w && echo made > made && ls -A ..").out, "w\n");
    EXPECT_EQ(read_file(base + "/w/made"), "made\n");
    expect_acts(session, "ENOENT", base, {"read @/secret"});
    expect_acts(session, "EACCES", base, {"create @/w/.bashrc"});
    EXPECT_FALSE(fs::exists(base + "/.git"));
    remove_tree(base);
}

TEST_F(OwnPlaces, TheHostsTmpCanBeGranted) {
    const std::string name = "/tmp/sandpipe-own-granted-" + std::to_string(::getpid());
    write_file(name, "the host's\n");
    SandboxPolicy policy = writable();
    policy.filesystem.allow_read = {"/tmp"};
    EXPECT_EQ(open(policy).sh("cat " + name).out, "the host's\n");
    fs::remove(name);
}

TEST_F(OwnPlaces, DevHasTheFewNodesAndNothingElse) {
    Session session = open();
    EXPECT_EQ(session.sh("ls /dev | tr '\\n' ' '").out,
              "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ");
    EXPECT_EQ(session
                  .sh("echo x > /dev/null && head -c1 /dev/urandom | wc -c && head -c2 /dev/zero | wc -c && "
                      "echo a > /dev/stderr; echo x > /dev/full || echo full")
                  .out,
              "1\n2\nfull\n");
    expect_acts(
        session, "EROFS|EACCES|EPERM", "/dev",
        {"create @/x", "chmod @/null", "unlink @/null", "rename @/zero @/null", "chown @/null", "mkdir @/d"});
    expect_acts(session, "ok", "/dev/shm", {"create @/x", "mkdir @/d"});
}

TEST_F(OwnPlaces, ATerminalCanBeMadeInside) {
    Session session = open();
    const Ran ran = session.python(
        "import os\nm,s=os.openpty()\nprint(os.ttyname(s)); os.write(s,b'x'); print(os.read(m,1))");
    EXPECT_EQ(ran.out, "/dev/pts/0\nb'x'\n") << ran.err;
}

TEST_F(OwnPlaces, DeviceNodesCannotBeMade) {
    Session session = open();
    const Ran ran = session.python(
        "import os,stat\n"
        "for k,d in (stat.S_IFBLK,(254,0)),(stat.S_IFCHR,(1,1)):\n"
        "  for p in 'node','/tmp/node':\n"
        "    try: os.mknod(p,k|0o666,os.makedev(*d)); print('made')\n"
        "    except OSError as e: print(e.errno)\n");
    EXPECT_EQ(ran.out, "1\n1\n1\n1\n") << ran.err;
}

TEST_F(OwnPlaces, ProcShowsOnlyTheCommandsProcesses) {
    Session session = open();
    const Ran ran = session.sh("for p in /proc/[0-9]*; do echo ${p#/proc/}; done | sort -n | head -c 200");
    EXPECT_EQ(ran.out.substr(0, 2), "1\n") << ran.out;
    EXPECT_LE(std::count(ran.out.begin(), ran.out.end(), '\n'), 6) << ran.out;
    EXPECT_EQ(session.sh("cat /proc/1/environ | wc -c; cat /proc/1/environ 2>/dev/null | grep -c PATH").out,
              "0\n0\n");
}

TEST_F(OwnPlaces, ProcHidesTheHostsFacts) {
    Session session = open();
    for (const char* name :
         {"kcore",      "kmsg",       "kallsyms", "keys",         "key-users",   "timer_list", "sched_debug",
          "slabinfo",   "kpagecount", "iomem",    "ioports",      "vmallocinfo", "modules",    "cmdline",
          "bootconfig", "config.gz",  "consoles", "interrupts",   "softirqs",    "partitions", "diskstats",
          "mdstat",     "swaps",      "mtrr",     "pagetypeinfo", "allocinfo"}) {
        const std::string path = std::string("/proc/") + name;
        if (!fs::exists(path)) continue;
        expect_acts(session, "EACCES", "",
                    {"read " + path, "read /proc/self/root" + path, std::string("read /proc/self/../") + name});
    }
    for (const char* directory :
         {"/proc/fs", "/proc/bus", "/proc/irq", "/proc/acpi", "/proc/scsi", "/proc/driver", "/proc/asound",
          "/proc/tty/driver", "/sys/firmware", "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/slab",
          "/sys/devices/virtual/dmi", "/sys/devices/virtual/powercap", "/sys/fs/bpf", "/sys/fs/pstore"})
        if (fs::is_directory(directory)) expect_acts(session, "EACCES", "", {std::string("list ") + directory});
    for (const char* file : {"/sys/kernel/boot_params/data", "/sys/kernel/notes", "/sys/kernel/vmcoreinfo"})
        if (fs::exists(file)) expect_acts(session, "EACCES", "", {std::string("read ") + file});
}

TEST_F(OwnPlaces, ProcShowsWhatProgramsNeed) {
    Session session = open();
    for (const char* name : {"cpuinfo",
                             "meminfo",
                             "stat",
                             "loadavg",
                             "uptime",
                             "version",
                             "filesystems",
                             "vmstat",
                             "cgroups",
                             "locks",
                             "net/tcp",
                             "mounts",
                             "sysvipc/shm",
                             "tty/drivers",
                             "self/status",
                             "self/cmdline",
                             "self/mountinfo",
                             "self/cgroup",
                             "sys/kernel/ostype",
                             "sys/kernel/random/uuid",
                             "sys/vm/overcommit_memory"}) {
        const std::string path = std::string("/proc/") + name;
        if (fs::exists(path)) expect_acts(session, "ok", "", {"read " + path});
    }
    expect_acts(session, "ok", "", {"list /sys/class", "list /sys/devices/system/cpu", "list /sys/fs"});
}

// With what they print, because some fall back on an empty answer.
TEST_F(OwnPlaces, UsualProgramsFindWhatTheyNeedInProc) {
    host("printf 'int main(void) { return 0; }' > w/main.c");
    ignore_below("w");
    Session session = open();
    const struct {
        const char* program;
        const char* line;
    } cases[] = {
        {"free", "free -m | grep -q Mem"},
        {"nproc", "test $(nproc) -ge 1"},
        {"ps", "ps aux | grep -q 'ps aux'"},
        {"uptime", "uptime | grep -q load"},
        {"vmstat", "vmstat | grep -q memory"},
        {"df", "df . | grep -q /"},
        {"lscpu", "lscpu | grep -q Architecture"},
        {"top", "top -b -n 1 | grep -q Tasks"},
        {"gcc", "gcc -g -o main main.c && ./main"},
        {"make", "printf 'all:\\n\\tnproc\\n' | make -j2 -f -"},
        {"node",
         "node -e 'const o = require(\"os\"); process.exit(o.cpus().length > 0 && o.totalmem() > 0 && o.uptime() > 0 "
         "? 0 : 1)'"},
        {"java", "java -version"},
        {"go", "go version"},
        {"python3",
         "python3 -c 'import multiprocessing as m\nwith m.Pool(2) as p: assert p.map(abs, [-1, 2]) == [1, 2]'"},
    };
    for (const auto& one : cases) {
        const std::string look = "command -v " + std::string(one.program) + " > /dev/null";
        if (std::system(look.c_str()) != 0) {
            std::printf("not tried: this machine has no %s\n", one.program);
            continue;
        }
        const Ran ran = session.sh(one.line);
        EXPECT_EQ(ran.code(), 0) << one.program << ": " << ran.out << ran.err;
    }
}

// Only opened, never written: these are the machine's own.
TEST_F(OwnPlaces, SettingsOfTheMachineCannotBeOpenedForWriting) {
    Session session = open();
    for (const char* path :
         {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
          "/proc/sys/fs/file-max", "/proc/sys/user/max_user_namespaces", "/proc/sysrq-trigger",
          "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/pid_max",
          "/sys/kernel/profiling", "/sys/power/state", "/proc/irq/default_smp_affinity"})
        if (fs::exists(path)) expect_acts(session, "EROFS|EACCES|EPERM", "", {std::string("write ") + path});
}

/// Looked at in a mount namespace, where no other program makes anything meanwhile.
TEST_F(OwnPlaces, NothingIsLeftOnTheHost) {
    const auto left_by = [this](const std::string& prefix) {
        write_file(at("o/work"), "for i in 1 2 3 4 5; do " + prefix +
                                     "sh -c 'for d in /tmp /dev/shm; do mktemp -p $d && mktemp -d -p $d || exit; done'"
                                     " >&2 || exit; done; find /tmp /run /dev/shm -mindepth 1 | wc -l");
        host("cd w && bwrap --dev-bind / / --tmpfs /tmp --tmpfs /run --tmpfs /dev/shm sh -e ../o/work > ../o/left "
             "2> ../o/made && grep -c tmp ../o/made >> ../o/left");
        return read_file(at("o/left"));
    };
    EXPECT_EQ(left_by(""), "20\n20\n");
    EXPECT_EQ(left_by("'" + test_program("sandpipe") + "' run -- "), "0\n20\n");
}

TEST_F(OwnPlaces, TheMountTableShowsNoWritableWayToTheHost) {
    Session session = open();
    const Ran ran =
        session.sh("awk '$6 ~ /^rw/ && $5 !~ /^\\/(proc|tmp|dev)/ {print $5}' /proc/self/mountinfo");
    EXPECT_EQ(ran.out, at("w") + "\n");
}

}  // namespace
}  // namespace sandpipe::testing
