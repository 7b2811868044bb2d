#pragma once

#include <sandpipe/environment.hpp>
#include <sandpipe/unique_fd.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sandpipe {

namespace detail {
class Session;
struct Entry;
class AuditTrail;
}

/// Where a command's stdin comes from. Default: none (an empty /dev/null, never the host's own stdin).
class Input {
  public:
    /// /dev/null: reads give end of file at once.
    [[nodiscard]] static Input none();
    /// These bytes, then end of file. A program that does not read them all is no error.
    [[nodiscard]] static Input bytes(std::string data);
    /// A file, opened for reading by the host when the command starts. A FIFO must have a writer by then, who may wait
    /// for its reader; NotStarted otherwise.
    [[nodiscard]] static Input file(std::string path);
    /// A descriptor of the host, duplicated at once: the caller may close its own. Throws `Error` for a bad
    /// one. The command gets a pipe with O_NONBLOCK as one that blocks; the caller's stays as it is.
    [[nodiscard]] static Input descriptor(int fd);
    /// Written by the caller while the command runs: CommandStream::write and close_input.
    [[nodiscard]] static Input stream();

    struct None {};
    struct Bytes {
        std::string data;
    };
    struct File {
        std::string path;
    };
    struct Descriptor {
        std::shared_ptr<const unique_fd> fd;
    };
    struct Stream {};
    using Source = std::variant<None, Bytes, File, Descriptor, Stream>;

    Input() = default;
    [[nodiscard]] const Source& source() const noexcept { return source_; }

  private:
    explicit Input(Source source) : source_(std::move(source)) {}
    Source source_;
};

/// How `Output::file` opens its file.
enum class FileMode : std::uint8_t { truncate, append };

/// Where one of a command's output streams goes. Default: capture.
class Output {
  public:
    /// Through a pipe into the result or the stream.
    [[nodiscard]] static Output capture();
    /// To /dev/null.
    [[nodiscard]] static Output discard();
    /// To the host's own stdout or stderr. NotStarted with EBADF where it is closed, or by now an epoll or the like.
    [[nodiscard]] static Output inherit();
    /// To a file, made with mode 0666 less the umask if it does not exist; opened by the host at the start.
    [[nodiscard]] static Output file(std::string path, FileMode mode);
    /// To a descriptor of the host, duplicated at once. Throws `Error` for a bad one. O_NONBLOCK as for Input.
    [[nodiscard]] static Output descriptor(int fd);

    struct Capture {};
    struct Discard {};
    struct Inherit {};
    struct File {
        std::string path;
        FileMode mode = FileMode::truncate;
    };
    struct Descriptor {
        std::shared_ptr<const unique_fd> fd;
    };
    using Sink = std::variant<Capture, Discard, Inherit, File, Descriptor>;

    Output() = default;
    [[nodiscard]] const Sink& sink() const noexcept { return sink_; }

  private:
    explicit Output(Sink sink) : sink_(std::move(sink)) {}
    Sink sink_;
};

/// The order of the two output streams. `tagged`: a pipe each; the order of arrival is exact when writes are
/// 2 ms apart. `merged`: one pipe for both; the order is exact always and nothing says which stream it was.
enum class Order : std::uint8_t { tagged, merged };

/// What becomes of processes that a plain command leaves behind when it ends by itself: kept, they live on until the
/// Runtime is closed or destroyed, or its process ends.
/// Inside a sandbox nothing survives its command, whatever this says.
enum class Survivors : std::uint8_t { keep, end };

/// How a command is ended: `signal` to the whole tree, after `grace` SIGKILL, and then a wait of at most
/// `abandon_after` for the kernel to finish it.
struct StopPolicy {
    int signal = 15;  ///< SIGTERM; followed by SIGCONT, so that a stopped program gets it
    std::chrono::nanoseconds grace = std::chrono::seconds{2};  ///< 0: SIGKILL at once
    std::chrono::nanoseconds abandon_after = std::chrono::seconds{2};
    bool kill_at_once = false;  ///< no signal and no grace: SIGKILL
    Survivors survivors = Survivors::keep;
};

enum class OnOverflow : std::uint8_t {
    stop,                ///< the command is stopped; cause output_limit
    keep_head_and_tail,  ///< it runs on; the first and the last half of `bytes` are kept. For settled results only:
                         ///< starting a CommandStream with it throws `Error`
};

/// How much of each output stream a result keeps; exact to the byte.
struct OutputLimit {
    std::uint64_t bytes = 10 * 1024 * 1024;  ///< 0: the first byte is too much
    OnOverflow on_overflow = OnOverflow::stop;
};

/// Passed as a timeout: none.
inline constexpr std::chrono::nanoseconds kNoTimeout = std::chrono::nanoseconds::max();

/// The plain data behind a BinaryInvocation, for executors and wrappers of the user's own.
struct InvocationFields {
    std::string program;                              ///< a path, or a bare name for the command's PATH
    std::vector<std::string> args;                    ///< without the program itself
    std::optional<std::chrono::nanoseconds> timeout;  ///< absent: the executor's default
    std::chrono::nanoseconds start_timeout =
        std::chrono::seconds{30};    ///< for queue, wrap and start together
    std::string cwd;                 ///< empty: the host's, or the session's workspace
    std::optional<Environment> env;  ///< absent: the executor's default
    Input input;
    Output out;
    Output err;
    Order order = Order::tagged;
    std::optional<OutputLimit> limit;  ///< absent: the executor's default
    StopPolicy stop;
    std::shared_ptr<detail::Session> session;  ///< the sandbox it runs in; set by `wrap` and `shell`
    /// What program and args stand for, if they are those of an entering relay; set by `wrap`.
    std::shared_ptr<const detail::Entry> entry;
    std::shared_ptr<detail::AuditTrail> audit;  ///< where denials and failed starts are told; set by executors
};

/// What to run: built by chained calls, because g++ 12 cannot take braced lists in a co_await expression.
///
///     co_await executor->exec(command("ffprobe").args("-v", "error", "in.mp4").timeout(10s));
///
/// A value without behaviour; copying is cheap beside a start. Checked by the operation that starts it.
class BinaryInvocation {
  public:
    explicit BinaryInvocation(std::string program) { fields_.program = std::move(program); }

    template <typename... Args>
    BinaryInvocation& args(Args&&... args) & {
        (fields_.args.emplace_back(std::forward<Args>(args)), ...);
        return *this;
    }
    template <typename... Args>
    BinaryInvocation&& args(Args&&... args) && {
        return std::move(this->args(std::forward<Args>(args)...));
    }
    /// Appends all of the list.
    BinaryInvocation& arg_list(std::vector<std::string> args) &;
    BinaryInvocation&& arg_list(std::vector<std::string> args) && {
        return std::move(arg_list(std::move(args)));
    }
    /// Ends the whole tree when it passes. Starts with the command. `kNoTimeout`: never. Must be positive.
    BinaryInvocation& timeout(std::chrono::nanoseconds value) & { return put(fields_.timeout, value); }
    BinaryInvocation&& timeout(std::chrono::nanoseconds value) && { return std::move(timeout(value)); }
    /// For waiting in the queue, the wrap step and the start together; default 30 s. Gives NotStarted.
    BinaryInvocation& start_timeout(std::chrono::nanoseconds value) & {
        return put(fields_.start_timeout, value);
    }
    BinaryInvocation&& start_timeout(std::chrono::nanoseconds value) && {
        return std::move(start_timeout(value));
    }
    BinaryInvocation& cwd(std::string value) & { return put(fields_.cwd, std::move(value)); }
    BinaryInvocation&& cwd(std::string value) && { return std::move(cwd(std::move(value))); }
    BinaryInvocation& env(Environment value) & { return put(fields_.env, std::move(value)); }
    BinaryInvocation&& env(Environment value) && { return std::move(env(std::move(value))); }
    BinaryInvocation& input(Input value) & { return put(fields_.input, std::move(value)); }
    BinaryInvocation&& input(Input value) && { return std::move(input(std::move(value))); }
    BinaryInvocation& out(Output value) & { return put(fields_.out, std::move(value)); }
    BinaryInvocation&& out(Output value) && { return std::move(out(std::move(value))); }
    BinaryInvocation& err(Output value) & { return put(fields_.err, std::move(value)); }
    BinaryInvocation&& err(Output value) && { return std::move(err(std::move(value))); }
    BinaryInvocation& order(Order value) & { return put(fields_.order, value); }
    BinaryInvocation&& order(Order value) && { return std::move(order(value)); }
    BinaryInvocation& limit(OutputLimit value) & { return put(fields_.limit, value); }
    BinaryInvocation&& limit(OutputLimit value) && { return std::move(limit(value)); }
    BinaryInvocation& stop(StopPolicy value) & { return put(fields_.stop, value); }
    BinaryInvocation&& stop(StopPolicy value) && { return std::move(stop(value)); }

    [[nodiscard]] InvocationFields& fields() noexcept { return fields_; }
    [[nodiscard]] const InvocationFields& fields() const noexcept { return fields_; }

  private:
    template <typename Field, typename Value>
    BinaryInvocation& put(Field& field, Value&& value) {
        field = std::forward<Value>(value);
        return *this;
    }

    InvocationFields fields_;
};

/// The usual way to begin an invocation.
[[nodiscard]] inline BinaryInvocation command(std::string program) {
    return BinaryInvocation(std::move(program));
}

}  // namespace sandpipe
