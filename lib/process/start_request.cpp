#include "start_request.hpp"

#include <sandpipe/error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <string_view>

namespace sandpipe::detail {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

[[noreturn]] void refuse(const std::string& text) { throw Error(Errc::invalid_sandbox_config, text); }

void check_text(const std::string& text, const std::string& what) {
    if (const std::size_t at = text.find('\0'); at != std::string::npos)
        refuse(what + " has a NUL byte at " + std::to_string(at) + "; the kernel would cut it there");
}

void check_file(const std::string* path, const std::string& what) {
    if (!path) return;
    if (path->empty()) refuse(what + ": the file's name is empty");
    check_text(*path, what + ": the file's name");
}

const std::string* file_of(const Input& input) {
    const auto* file = std::get_if<Input::File>(&input.source());
    return file ? &file->path : nullptr;
}

const std::string* file_of(const Output& output) {
    const auto* file = std::get_if<Output::File>(&output.sink());
    return file ? &file->path : nullptr;
}

void check_positive(std::chrono::nanoseconds value, const std::string& what) {
    if (value <= value.zero())
        refuse(what + " is " + std::to_string(value.count()) + " ns; it must be positive, or kNoTimeout");
}

void check_stop(const StopPolicy& stop) {
    if (stop.signal < 1 || stop.signal >= NSIG)
        refuse("stop.signal is " + std::to_string(stop.signal) + "; signals are 1 to " +
               std::to_string(NSIG - 1));
    if (stop.grace < stop.grace.zero()) refuse("stop.grace is negative");
    check_positive(stop.abandon_after, "stop.abandon_after");
}

std::uint64_t total(const std::vector<std::string>& texts) {
    std::uint64_t bytes = 0;
    for (const std::string& text : texts) bytes += text.size() + 1;
    return bytes;
}

std::size_t longest(const std::vector<std::string>& texts) {
    const auto shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
    return static_cast<std::size_t>(std::max_element(texts.begin(), texts.end(), shorter) - texts.begin());
}

std::string describe_longest(const std::vector<std::string>& texts, const std::string& name) {
    if (texts.empty()) return {};
    const std::size_t index = longest(texts);
    return ", longest " + name + "[" + std::to_string(index) + "] with " +
           std::to_string(texts[index].size()) + " bytes";
}

std::string size_hint(const wire::StartCommand& request) {
    return "argv " + std::to_string(total(request.argv)) + " bytes" + describe_longest(request.argv, "argv") +
           "; environment " + std::to_string(total(request.env)) + " bytes" +
           describe_longest(request.env, "env") +
           "; the kernel takes 131071 bytes a string and a quarter of the stack limit in all (execve(2)):"
           " pass data by stdin or a file";
}

// The most that the kernel gives a new program's strings and the pointers to them, whatever the stack limit is: three
// quarters of the 8 MiB that its own is by default (bprm_stack_limits in fs/exec.c; execve(2)).
constexpr std::uint64_t kMostArgumentBytes = 6 * 1024 * 1024;

/// Where the program may be all the same.
std::string passed_over(const wire::Failure& failure) {
    if (failure.passed_over.empty()) return {};
    if (failure.passed_over_error == EISDIR) return "; " + failure.passed_over + " is a directory";
    const std::string directory = failure.passed_over.substr(0, failure.passed_over.rfind('/'));
    return "; " + directory + " could not be searched: " +
           std::error_code(failure.passed_over_error, std::generic_category()).message();
}

/// Of a path that leads to no file.
std::string path_hint(int error) {
    switch (error) {
        case ENOENT:
            return "nothing has this path";
        case ENOTDIR:
            return "a part of the path that must be a directory is none";
        case EISDIR:
            return "it is a directory";
        case ENAMETOOLONG:
            return "a name may have 255 bytes and a path 4095";
        case EACCES:
        case EPERM:
            return "this user may not: see the modes of the file and of the directories on the way";
        default:
            return {};
    }
}

std::string stream_hint(const wire::Failure& failure) {
    if (failure.error == ETIMEDOUT)
        return "it had not been opened within start_timeout: the file system that it stands in may hang";
    if (failure.error == ENXIO) return "nobody has the other end of the FIFO open";
    if (failure.error == EBADF) return "it is closed, or no file, pipe, socket or device: it may be the host's own epoll by now";
    if (failure.error == ELOOP)
        return "a link on the way leads in a circle, or stands where commands may have made it and leads to what they"
               " may not touch: name the file itself";
    // What the session's start says of a stream; else the path is a file's.
    if (failure.path != "stdin" && failure.path != "stdout" && failure.path != "stderr")
        return path_hint(failure.error);
    if (failure.error == EFBIG)
        return "it has no name, so the command would get a copy, of which 64 MiB are the most: use a pipe";
    if (failure.error == EISDIR) return "a command in a sandbox gets no directory as a stream: name a file in it";
    if (failure.error == EPERM || failure.error == ENOENT || failure.error == ESTALE)
        return "a command in a sandbox gets what can be opened anew for reading only, which this cannot: use a pipe";
    if (failure.error != EACCES) return {};
    return "a command in a sandbox gets no socket that it could point at the host: connect it, or use a pipe";
}

std::string program_hint(const wire::Failure& failure, const wire::StartCommand& request) {
    if (failure.error == ENOEXEC)
        return "no executable format and no \"#!\" line that the kernel takes (255 bytes, with a path): start it by its"
               " interpreter, such as sh";
    if (failure.error == EACCES) return path_hint(EISDIR);
    if (failure.error == ECANCELED) return "it was ended before it was executed";
    if (failure.error == ETXTBSY) return "another process still has it open for writing";
    const std::string& name = request.argv.front();
    if (name.find('/') != std::string::npos) {
        const std::string reason = path_hint(failure.error);
        if (failure.error != ENOENT || name.front() == '/') return reason;
        return reason + "; a relative path is relative to the command's cwd";
    }
    if (name.size() > NAME_MAX) return "no file has a name of " + std::to_string(name.size()) + " bytes";
    return "not found in the command's PATH" + passed_over(failure);
}

}  // namespace

void check_invocation(const InvocationFields& fields) {
    if (fields.program.empty()) refuse("the program's name is empty");
    check_text(fields.program, "the program's name");
    for (std::size_t i = 0; i < fields.args.size(); ++i)
        check_text(fields.args[i], "args[" + std::to_string(i) + "]");
    check_text(fields.cwd, "cwd");
    check_file(file_of(fields.input), "input");
    check_file(file_of(fields.out), "out");
    check_file(file_of(fields.err), "err");
    if (fields.timeout) check_positive(*fields.timeout, "timeout");
    check_positive(fields.start_timeout, "start_timeout");
    check_stop(fields.stop);
}

const char* find_variable(const std::vector<std::string>& env, std::string_view name) {
    for (const std::string& entry : env)
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
            return entry.c_str() + name.size() + 1;
    return nullptr;
}

std::vector<std::string> candidates(const std::string& program, const std::vector<std::string>& env,
                                    const std::vector<std::string>& fallback) {
    if (program.find('/') != std::string::npos) return {program};
    const char* own = find_variable(env, "PATH");
    const char* path = own ? own : find_variable(fallback, "PATH");
    std::string_view rest = path ? std::string_view(path) : kDefaultPath;
    std::vector<std::string> found;
    for (;;) {
        const std::size_t end = rest.find(':');
        const std::string_view directory = rest.substr(0, end);
        found.push_back((directory.empty() ? "." : std::string(directory)) + "/" + program);
        if (end == std::string_view::npos) return found;
        rest.remove_prefix(end + 1);
    }
}

std::optional<wire::Failure> certain_failure(const wire::StartCommand& request) {
    if (request.cwd.size() >= PATH_MAX) return wire::Failure{Stage::cwd, ENAMETOOLONG, request.cwd};
    const std::uint64_t strings = request.argv.size() + request.env.size();
    if (total(request.argv) + total(request.env) + strings * sizeof(char*) > kMostArgumentBytes)
        return wire::Failure{Stage::arguments, E2BIG, request.argv.front()};
    return {};
}

std::string start_hint(const wire::Failure& failure, const wire::StartCommand& request) {
    switch (failure.stage) {
        case Stage::cwd:
            return "the working directory must exist and be searchable for the command";
        case Stage::program:
            return program_hint(failure, request);
        case Stage::interpreter:
            return failure.error == ELOOP
                       ? "the interpreter in its \"#!\" line is a script too, and so on: the kernel follows five"
                       : "the file exists; the interpreter in its \"#!\" line or its loader does not (in a file with"
                         " DOS line ends the name has a carriage return at its end)";
        case Stage::permission:
            return "the file, or the interpreter in its \"#!\" line, may not be executed: see the mode (chmod +x), a"
                   " noexec mount, or the policy";
        case Stage::input:
        case Stage::output:
            return stream_hint(failure);
        case Stage::arguments:
            return size_hint(request);
        case Stage::resources:
            if (failure.error == EFBIG) return "the helper's program is larger than a file may be here: see ulimit -f";
            return "processes, descriptors or memory are short: see ulimit -u, ulimit -n, or max_running";
        default:
            return {};
    }
}

std::string hidden_hint(const Session& session, const wire::Failure& failure, const wire::StartCommand& request) {
    if (failure.error != ENOENT) return {};
    std::vector<std::string> places{failure.path};
    if (failure.stage == Stage::program) places.insert(places.end(), request.programs.begin(), request.programs.end());
    for (const std::string& place : places)
        if (const std::string hint = session.hidden_hint(place); !hint.empty()) return "; " + hint;
    return {};
}

}  // namespace sandpipe::detail
