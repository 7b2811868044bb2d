#include "launcher/supervisor/supervised_act.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/paths/supervised_place.hpp"
#include "launcher/supervisor/call_arguments.hpp"
#include "launcher/supervisor/supervised_attempt.hpp"
#include "launcher/supervisor/supervised_interpreter.hpp"
#include "launcher/view/file_mask.hpp"
#include "sys/raw_syscall.hpp"

namespace sandpipe::launcher {
namespace {

/// How often a file may appear and vanish while it is being made, before the kernel is left to it.
constexpr int kAttempts = 8;

}  // namespace

Site Attempt::site_of(const Spot& spot) const {
    Site site = spot.site();
    site.initial = repositories_.is_initial(call_, caller_, spot);
    site.foreign = spot.object && foreign_files_.has(spot.object.get());
    return site;
}

/// What is found without saying its name, which is longer than any path, may be what a glob denies.
int Attempt::unless_unknown(int error, const Spot& spot) const {
    const bool known = error < 0 || !spot.object || !spot.place.empty() || !has_too_long_name(spot.object.get());
    return known || rules_.globs_below("/").empty() ? error : -ENAMETOOLONG;
}

/// A path that ends before its last component: a denied place may be what it ends at.
Answer Attempt::unreachable(Resolver& resolver, int error) const {
    Answer answer;
    answer.resolved = resolver.blocked_place(call_.directory, call_.path);
    answer.judgement = judge_read(rules_, answer.resolved);
    // The kernel would say that there is no right to it (Landlock), which is not what is wrong.
    if (error == -ENAMETOOLONG) return refused(error);
    const bool by_kernel = call_.row->act == Act::open || call_.row->act == Act::change;
    if (answer.judgement.decision == Decision::deny || by_kernel) return answer;
    return refused(error);
}

int Attempt::find_opened(Resolver& resolver, Spot& spot) const {
    const std::uint64_t flags = call_.how.flags;
    const bool is_new_only = (flags & O_CREAT) && (flags & O_EXCL);
    const bool stays_at_link = is_new_only || ((flags & O_NOFOLLOW) && !call_.path.ends_with('/'));
    const int error = stays_at_link ? resolver.find_entry(call_.directory, call_.path, spot)
                                    : resolver.find_target(call_.directory, call_.path, spot);
    return unless_unknown(error, spot);
}

/// openat2(2): nothing can be made so, and what is cached here need not be for the caller.
Answer Attempt::open_cached() {
    Resolver resolver(caller_, call_.how.resolve & ~std::uint64_t{RESOLVE_CACHED});
    Spot spot;
    if (const int error = find_opened(resolver, spot); error < 0) return unreachable(resolver, error);
    Answer answer;
    answer.resolved = spot.place;
    answer.judgement = judge_open(rules_, call_.how.flags, site_of(spot));
    if (answer.judgement.decision == Decision::deny) return answer;
    return rules_.writes_on_behalf() ? refused(-EAGAIN) : Answer{};
}

Answer Attempt::open() {
    if (call_.how.resolve & RESOLVE_CACHED) return open_cached();
    const bool is_new_only = (call_.how.flags & O_CREAT) && (call_.how.flags & O_EXCL);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        Resolver resolver(caller_, call_.how.resolve);
        Spot spot;
        if (const int error = find_opened(resolver, spot); error < 0) return unreachable(resolver, error);
        unique_fd file;
        bool waits = false;
        Answer answer = settle(judge_open(rules_, call_.how.flags, site_of(spot)), spot, {}, [&] {
            const int opened = spot.kind == Kind::missing ? open_new(spot, file) : open_again(spot, file);
            // fifo(7): who asked for no waiting is told that nobody reads it.
            waits = opened == -ENXIO && spot.kind == Kind::fifo && !(call_.how.flags & O_NONBLOCK);
            return waits ? 0 : opened;
        });
        if (file && spot.kind == Kind::missing) take_back_if_moved(answer, spot, Kind::file, identity_of(file.get()));
        if (answer.judgement.decision == Decision::deny) return answer;
        const bool raced = answer.judgement == Judgement{Decision::refuse, EEXIST, {}} && !is_new_only;
        if (raced) continue;
        answer.file = waits ? std::move(spot.object) : std::move(file);
        answer.waits = waits;
        if (spot.kind == Kind::missing) answer.made = std::move(spot);
        return answer;
    }
    return {};
}

/// O_EXCL: it is new, so it is no FIFO that would block and no file of somebody else's.
int Attempt::open_new(const Spot& spot, unique_fd& file) {
    const mode_t mask = caller_.file_mask();
    if (!still_waiting_()) return -EINTR;
    open_how how = call_.how;
    how.flags |= O_EXCL | O_CLOEXEC;
    how.resolve = 0;
    const FileMask masked(mask);
    const int directory = spot.directory.get();
    // open(2) ignores flags that it does not know, openat2(2) refuses them.
    const long made = call_.row->number == __NR_openat2
                          ? sys::raw_syscall(SYS_openat2, directory, sys::word(spot.name.c_str()),
                                             sys::word(&how), sizeof how)
                          : sys::raw_syscall(SYS_openat, directory, sys::word(spot.name.c_str()),
                                             static_cast<long>(how.flags), static_cast<long>(how.mode));
    if (made < 0) return static_cast<int>(made);
    file.reset(static_cast<int>(made));
    return 0;
}

/// With O_NOFOLLOW, which shows (F_GETFL in fcntl(2)), and with which no handle can be opened again. Nothing if the name
/// is another's by now.
unique_fd Attempt::open_by_name(const Spot& spot, int flags) const {
    const bool is_temporary = (flags & O_TMPFILE) == O_TMPFILE;
    const int with = (flags & ~O_TRUNC) | O_NOFOLLOW;
    if (is_temporary)
        return unique_fd(::openat(spot.object.get(), ".", with, static_cast<mode_t>(call_.how.mode)));
    unique_fd file(spot.directory ? ::openat(spot.directory.get(), spot.name.c_str(), with) : -1);
    const bool is_it = file && identity_of(file.get()) == identity_of(spot.object.get());
    const bool cuts = (flags & O_TRUNC) && spot.kind == Kind::file;
    const bool is_cut = is_it && (!cuts || ::truncate(OwnDescriptor(spot.object.get()).path(), 0) == 0);
    return is_cut ? std::move(file) : unique_fd();
}

/// The very file, or directory for an unnamed one, that was judged. Where others hold it by a lease (fcntl(2)) the
/// caller is told to try again: nothing here may wait for them.
int Attempt::open_again(const Spot& spot, unique_fd& file) {
    const bool is_temporary = (call_.how.flags & O_TMPFILE) == O_TMPFILE;
    const mode_t mask = caller_.file_mask();
    if (!still_waiting_()) return -EINTR;
    open_how how = call_.how;
    how.flags &= ~std::uint64_t{O_NOFOLLOW} & ~(is_temporary ? 0 : std::uint64_t{O_CREAT | O_EXCL});
    how.flags |= O_CLOEXEC | O_NONBLOCK;
    const FileMask masked(mask);
    const OwnDescriptor object(spot.object.get());
    if (call_.how.flags & O_NOFOLLOW) file = open_by_name(spot, static_cast<int>(how.flags));
    if (!file) file.reset(::open(object.path(), static_cast<int>(how.flags), static_cast<mode_t>(how.mode)));
    if (!file) return -errno;
    const bool waits = !(call_.how.flags & O_NONBLOCK);
    return waits ? result_of(::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK)) : 0;
}

int Attempt::truncate(const Spot& spot) {
    const unique_fd file(::open(OwnDescriptor(spot.object.get()).path(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return -errno;
    // The kernel would look at the limit of this process.
    if (const int error = caller_.check_growth(file.get(), call_.length); error < 0) return error;
    return result_of(::ftruncate(file.get(), call_.length));
}

/// What the kernel refuses by itself is no denial. It is asked only then: for an open that goes on it looks anyway.
Answer Attempt::open_to_read() {
    Answer answer = read();
    if (answer.judgement.decision != Decision::deny) return answer;
    const int error = check_arguments(call_);
    return error < 0 ? refused(error) : std::move(answer);
}

/// What is read stays the kernel's: the masks hold whatever path is given a moment later.
Answer Attempt::read() {
    Resolver resolver(caller_, call_.how.resolve);
    const bool stays_at_link = call_.row->act == Act::read_link || (call_.how.flags & O_NOFOLLOW) ||
                               (call_.flags & AT_SYMLINK_NOFOLLOW);
    Answer answer;
    answer.kind = call_.row->act == Act::execute ? DenialKind::exec : DenialKind::read;
    if (!call_.on_descriptor && call_.row->act != Act::execute)
        answer.resolved = resolver.plain_place(call_.directory, call_.path, stays_at_link);
    if (!answer.resolved.empty()) {
        answer.judgement = judge_read(rules_, answer.resolved);
        return answer;
    }
    Spot spot;
    const int error = call_.on_descriptor ? resolver.find_descriptor(call_.directory, spot)
                      : stays_at_link     ? resolver.find_entry(call_.directory, call_.path, spot)
                                          : resolver.find_target(call_.directory, call_.path, spot);
    answer.resolved = error == 0 ? spot.place : resolver.blocked_place(call_.directory, call_.path);
    answer.judgement = judge_read(rules_, answer.resolved);
    const bool goes_on = answer.judgement.decision == Decision::proceed && error == 0;
    return goes_on && call_.row->act == Act::execute ? execute(spot, std::move(answer)) : std::move(answer);
}

Answer Attempt::execute(const Spot& program, Answer answer) const {
    answer.judgement = judge_execute(rules_, program.site());
    if (answer.judgement.decision != Decision::proceed) return answer;
    InterpreterVerdict interpreter = judge_interpreters(rules_, caller_, program);
    if (interpreter.judgement.decision != Decision::deny) return answer;
    answer.judgement = std::move(interpreter.judgement);
    answer.path = std::move(interpreter.path);
    answer.resolved = std::move(interpreter.resolved);
    return answer;
}

int Attempt::find_changed(Resolver& resolver, Spot& spot) const {
    const bool stays_at_link = (call_.flags & AT_SYMLINK_NOFOLLOW) && !call_.path.ends_with('/');
    const int error = call_.on_descriptor ? resolver.find_descriptor(call_.directory, spot)
                      : stays_at_link     ? resolver.find_entry(call_.directory, call_.path, spot)
                                          : resolver.find_target(call_.directory, call_.path, spot);
    return unless_unknown(error, spot);
}

Answer Attempt::change_mode() {
    Resolver resolver(caller_);
    Spot spot;
    if (const int error = find_changed(resolver, spot); error < 0) return unreachable(resolver, error);
    const bool by_number = call_.row->number == __NR_fchmod;
    return settle(judge_mode(rules_, site_of(spot), call_.mode), spot, {}, [&] {
        if (by_number && caller_.is_path_only(call_.directory)) return -EBADF;
        return result_of(::chmod(OwnDescriptor(spot.object.get()).path(), call_.mode & 07777));
    });
}

Answer Attempt::change() {
    Resolver resolver(caller_);
    Spot spot;
    if (const int error = find_changed(resolver, spot); error < 0) return unreachable(resolver, error);
    const bool truncates = call_.row->number == __NR_truncate;
    const Site site = site_of(spot);
    return settle(truncates ? judge_truncate(rules_, site) : judge_change(rules_, site), spot, {},
                  [&] { return truncate(spot); });
}

Answer answer_call(const wire::AccessRules& rules, NewRepositories& repositories, const ForeignFiles& foreign_files,
                   const Caller& caller, const Call& call, const StillWaiting& still_waiting) {
    const bool only_reads = call.row->act == Act::open && !asks_to_write(call.how.flags);
    if (!only_reads)
        if (const int error = check_arguments(call); error < 0) return refused(error);
    Attempt attempt(rules, repositories, foreign_files, caller, call, still_waiting);
    switch (call.row->act) {
        case Act::open:
            if (!only_reads) return attempt.open();
            return (call.how.flags & O_PATH) || !rules.denies_reads() ? Answer{} : attempt.open_to_read();
        case Act::enter:
        case Act::read_link:
        case Act::execute:
            return attempt.read();
        case Act::change_mode:
            return attempt.change_mode();
        case Act::set_attribute:
            return attempt.set_attribute();
        case Act::change:
            return attempt.change();
        case Act::map:
            return attempt.map();
        case Act::make_executable:
            return attempt.make_executable();
        case Act::remove:
            return attempt.remove();
        case Act::rename:
            return attempt.rename();
        case Act::link:
            return attempt.link();
        case Act::make_directory:
        case Act::make_node:
        case Act::make_symlink:
            return attempt.make();
        case Act::set_file_mask:
            return {};
        case Act::connect:
        case Act::bind:
        case Act::send:
        case Act::send_message:
            break;  // supervised_socket.hpp
    }
    return refused(-ENOSYS);
}

bool is_only_judged(const wire::AccessRules& rules, const Call& call) {
    const bool opens = call.row->act == Act::open;
    const bool writes = opens ? asks_to_write(call.how.flags) : call.row->number == __NR_truncate;
    if (writes && rules.writes_on_behalf()) return false;
    return call.row->act >= Act::change || (opens && !(call.how.flags & O_CREAT));
}

void unmake(const Answer& answer) {
    if (!answer.made.directory) return;
    struct stat made {};
    struct stat found {};
    const int directory = answer.made.directory.get();
    const char* name = answer.made.name.c_str();
    // Another process of the command may have put its own file there by now.
    if (::fstat(answer.file.get(), &made) < 0 || ::fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (made.st_dev == found.st_dev && made.st_ino == found.st_ino) ::unlinkat(directory, name, 0);
}

}  // namespace sandpipe::launcher
