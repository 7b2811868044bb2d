#include "process/exit_status.hpp"
#include "stream_command.hpp"

#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "json_lines.hpp"
#include "output.hpp"
#include "terminal_text.hpp"

namespace sandpipe::cli {
namespace {

// Events on our stdout and stderr, in either form.
class Screen {
  public:
    Screen(Interrupts& interrupts, std::string marker, const Presentation& presentation)
        : interrupts_(interrupts),
          json_(presentation.json),
          text_(std::move(marker), TerminalTextOptions{output_is_one_place(), presentation.quiet}) {}

    std::error_code begin(const CommandStream& stream, const Presentation& presentation) {
        std::error_code error;
        if (json_ && stream.started()) error = out(start_line(stream.marker(), presentation.enforcement));
        for (const std::string& text : presentation.session_warnings) {
            if (!error) error = show(Warning{1, {}, text});
            ++shown_before_;
        }
        return error;
    }

    /// Numbers go on from those of the session's own warnings, which no stream has.
    std::error_code show(OutputEvent event) {
        std::visit([this](auto& any) { any.seq += shown_before_; }, event);
        if (json_) return out(event_line(event));
        const TerminalPieces pieces = text_.render(event);
        const std::error_code error = out(pieces.out);
        return error ? error : write_fully(STDERR_FILENO, pieces.err, &interrupts_);
    }

  private:
    std::error_code out(const std::string& bytes) { return write_fully(STDOUT_FILENO, bytes, &interrupts_); }

    Interrupts& interrupts_;
    bool json_;
    TerminalText text_;
    std::uint64_t shown_before_ = 0;
};

}  // namespace

awaitable<Ending> stream_command(Host& host, CommandStream stream, Presentation presentation) {
    // From here on a signal means stop(), and the stream is shown to its end.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    Interrupts& interrupts = host.interrupts();
    const InterruptAction action(interrupts, [&stream] { stream.stop(); });
    Screen screen(interrupts, std::string(stream.marker()), presentation);
    std::error_code error = screen.begin(stream, presentation);
    Ending ending;
    while (!error) {
        std::optional<OutputEvent> event = co_await stream.next();
        if (!event) co_return ending;
        if (const auto* finished = std::get_if<Finished>(&*event)) {
            ending.status =
                detail::exit_status(finished->result, interrupts.first() != 0 ? interrupts.first() : SIGTERM);
        }
        error = screen.show(std::move(*event));
    }
    // The command has nobody to run for.
    stream.stop();
    static_cast<void>(co_await stream.finish());
    co_return broken_output(error, interrupts.first());
}

}  // namespace sandpipe::cli
