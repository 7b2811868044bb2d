// attack_map HOW PATH...: tries to get the first page of each file, or memory without one, into memory that can be
// executed, or mapped as a loader does it, and prints "ok" or the errno of the step that failed.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace {

constexpr std::size_t kPage = 4096;
constexpr int kExecuted = PROT_READ | PROT_EXEC;

int result_of(void* memory) { return memory == MAP_FAILED ? -1 : 0; }

void* map(const char* path, int protection, int flags) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    return file < 0 ? MAP_FAILED : ::mmap(nullptr, kPage, protection, flags, file, 0);
}

int protect(void* memory, std::size_t size = kPage) {
    return memory == MAP_FAILED ? -1 : ::mprotect(memory, size, kExecuted);
}

/// In the middle of other memory, all of which is made executable at once.
int protect_around(const char* path) {
    void* memory = ::mmap(nullptr, 3 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    char* middle = static_cast<char*>(memory) + kPage;
    if (::mmap(middle, kPage, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED) return -1;
    return protect(memory, 3 * kPage);
}

int protect_moved(void* memory) {
    if (memory == MAP_FAILED) return -1;
    return protect(::mremap(memory, kPage, 2 * kPage, MREMAP_MAYMOVE));
}

/// Nobody who looks for a name finds it.
int protect_unlinked(const char* path) {
    void* memory = map(path, PROT_READ, MAP_PRIVATE);
    return memory == MAP_FAILED || ::unlink(path) < 0 ? -1 : protect(memory);
}

/// Whoever looks for the name finds another file, `second` beside it.
int protect_exchanged(const char* path) {
    const std::string own = std::string(path) + ".own";
    void* memory = map(path, PROT_READ, MAP_PRIVATE);
    if (memory == MAP_FAILED || ::rename(path, own.c_str()) < 0 || ::symlink("second", path) < 0) return -1;
    const int result = protect(memory);
    const int error = errno;
    ::unlink(path);
    ::rename(own.c_str(), path);
    errno = error;
    return result;
}

int unasked(const char* path) {
    if (::personality(READ_IMPLIES_EXEC) < 0) return -1;
    return result_of(map(path, PROT_READ, MAP_PRIVATE));
}

void* own_memory(int kind) {
    return ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
}

int attach_shared() {
    const int id = ::shmget(IPC_PRIVATE, kPage, IPC_CREAT | 0600);
    void* memory = ::shmat(id, nullptr, 0);
    ::shmctl(id, IPC_RMID, nullptr);
    return protect(memory);
}

int attempt(const std::string& how, const char* path) {
    if (how == "mapped") return result_of(map(path, kExecuted, MAP_PRIVATE));
    if (how == "mapped_shared") return result_of(map(path, kExecuted, MAP_SHARED));
    if (how == "read") return result_of(map(path, PROT_READ, MAP_PRIVATE));
    if (how == "read_by_loader") return result_of(map(path, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE));
    if (how == "written_by_loader") return result_of(map(path, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_DENYWRITE));
    if (how == "protected") return protect(map(path, PROT_READ, MAP_PRIVATE));
    if (how == "protected_written") return protect(map(path, PROT_READ | PROT_WRITE, MAP_PRIVATE));
    if (how == "protected_shared") return protect(map(path, PROT_READ, MAP_SHARED));
    if (how == "protected_none") return protect(map(path, PROT_NONE, MAP_PRIVATE));
    if (how == "protected_by_key")
        return static_cast<int>(::syscall(SYS_pkey_mprotect, map(path, PROT_READ, MAP_PRIVATE), kPage, kExecuted, -1));
    if (how == "protected_around") return protect_around(path);
    if (how == "protected_moved") return protect_moved(map(path, PROT_READ, MAP_PRIVATE));
    if (how == "protected_unlinked") return protect_unlinked(path);
    if (how == "protected_exchanged") return protect_exchanged(path);
    if (how == "unasked") return unasked(path);
    if (how == "asks_persona") return ::personality(0xffffffff) < 0 ? -1 : 0;
    if (how == "memory") return protect(own_memory(MAP_PRIVATE));
    if (how == "shared_memory") return protect(own_memory(MAP_SHARED));
    if (how == "attached_memory") return attach_shared();
    errno = ENOSYS;
    return -1;
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
        errno = 0;
        ::puts(attempt(argv[1], argv[i]) < 0 ? ::strerrorname_np(errno) : "ok");
    }
    return argc > 2 ? 0 : 1;
}
