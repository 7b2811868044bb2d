#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "launcher/kernel/memory_map.hpp"
#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/supervisor/supervised_attempt.hpp"
#include "sys/elf.hpp"

/// What a process maps into its memory, or has there, to execute it.
namespace sandpipe::launcher {
namespace {

/// Never waits for anybody, as open may for the other end of a FIFO.
unique_fd open_to_read(int object) {
    return unique_fd(::open(OwnDescriptor(object).path(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/// What cannot be looked at is taken for one.
bool is_program(int object) {
    const unique_fd file = open_to_read(object);
    return !file || sys::read_program_facts(file.get()).is_program;
}

/// zero(4): what is mapped of it is the process's own.
bool is_zero_device(int object) {
    struct stat status {};
    return ::fstat(object, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == ::makedev(1, 5);
}

bool is_what_is_mapped(int object, const Mapping& mapping) {
    const unique_fd file = open_to_read(object);
    Mapping found;
    return file && mapping_of(file.get(), found) == 0 && found.is_of_same_file(mapping);
}

std::uint64_t end_of(const Call& call) {
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
    return call.size > kLast - call.address ? kLast : call.address + call.size;
}

}  // namespace

Judgement Attempt::judge_code(const Spot& spot) const {
    Site site = spot.site();
    // By another name, which cannot be written, a stream is still what the command writes.
    site.foreign = spot.object && foreign_files_.is_stream(spot.object.get());
    return judge_map(rules_, site, is_program(spot.object.get()));
}

Answer Attempt::map() {
    Spot spot;
    const int error = Resolver(caller_).find_descriptor(call_.directory, spot);
    Answer answer;
    // The kernel refuses what is no descriptor; what cannot be looked at is not let through.
    if (error < 0 && error != -EBADF) answer.judgement = {Decision::refuse, -error, {}};
    if (error < 0 || spot.kind != Kind::file) return answer;
    answer.kind = DenialKind::exec;
    answer.resolved = spot.place;
    answer.judgement = judge_code(spot);
    return answer;
}

/// The kernel tells of mapped files by a path: that has to lead to the very file. What has none (any more) nobody can
/// judge.
Judgement Attempt::judge_mapped(const Mapping& mapping) const {
    Spot spot;
    const int error = Resolver(caller_).find_target(AT_FDCWD, mapping.path, spot);
    const bool is_memory = error == 0 && is_zero_device(spot.object.get());
    const bool judged = error == 0 && (spot.kind == Kind::file || is_memory);
    if (!judged || !is_what_is_mapped(spot.object.get(), mapping)) return {Decision::deny, EACCES, "allowExecute"};
    return is_memory ? Judgement{} : judge_code(spot);
}

/// What a program wrote into memory of its own it may execute. But a file that is mapped to be read, and made
/// executable then, is what execve and mmap would not let it have: headers of a library can make a loader do that.
Answer Attempt::make_executable() {
    Answer answer;
    answer.kind = DenialKind::exec;
    const int error = visit_mappings(caller_.thread(), call_.address, end_of(call_), [&](const Mapping& mapping) {
        if (mapping.executable || mapping.is_anonymous()) return true;
        answer.judgement = judge_mapped(mapping);
        answer.resolved = mapping.path;
        return answer.judgement.decision != Decision::deny;
    });
    if (error < 0) return refused(-EACCES);
    return answer;
}

}  // namespace sandpipe::launcher
