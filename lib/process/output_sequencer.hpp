#pragma once

#include <sandpipe/output_event.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace sandpipe::detail {

/// Puts what was read from the pipes and what was denied into one order and numbers it. Pure.
///
/// A denial comes with the length that each pipe had at that moment: what the command wrote before the
/// refused call. It takes its place when exactly that much of both pipes has passed; what lies beyond waits
/// behind it.
class OutputSequencer {
  public:
    /// Pipe 0 is stdout, or both when they are merged; pipe 1 is stderr.
    using Positions = std::array<std::uint64_t, 2>;

    explicit OutputSequencer(StreamTag first_tag) : tags_{first_tag, StreamTag::err} {}

    void on_data(std::size_t pipe, std::string data, std::chrono::nanoseconds time);
    /// `ends`: how many bytes each pipe had carried when the call was refused.
    void on_denial(Denial denial, const Positions& ends);
    void on_warning(Warning warning);
    /// Nothing more will come from this pipe: what was promised of it is not waited for.
    void on_end(std::size_t pipe);
    /// No output comes any more: every denial takes its place.
    void on_no_more();
    void on_finished(Finished finished);

    [[nodiscard]] bool empty() const noexcept { return ready_.empty(); }
    [[nodiscard]] OutputEvent pop();
    /// Back to the front: nobody has seen it.
    void unpop(OutputEvent event);
    /// All denials that have taken their place, taken by the consumer or not.
    [[nodiscard]] const std::vector<Denial>& denials() const noexcept { return denials_; }
    /// What the output and the events that nobody has taken yet occupy.
    [[nodiscard]] std::uint64_t waiting_bytes() const noexcept {
        return waiting_bytes_ + held_.size() * sizeof(Held) + ready_.size() * sizeof(Ready);
    }
    /// Whether a denial waits for output that this pipe carries.
    [[nodiscard]] bool awaits(std::size_t pipe) const noexcept;

  private:
    struct Held {
        std::size_t pipe;
        std::string data;
        std::chrono::nanoseconds time;
    };
    struct Ready {
        OutputChunk chunk;
        std::unique_ptr<OutputEvent> other;  // in place of the chunk: large and seldom
    };
    struct Mark {
        Denial denial;
        Positions ends;
    };

    void pump();
    void emit_held(const Positions& ends);
    void emit(OutputEvent event);
    [[nodiscard]] static Ready make_ready(OutputEvent event);
    [[nodiscard]] bool reached() const noexcept;

    std::array<StreamTag, 2> tags_;
    std::array<bool, 2> ended_{};
    Positions passed_{};
    std::deque<Held> held_;
    std::deque<Mark> marks_;
    std::deque<Ready> ready_;
    std::vector<Denial> denials_;
    std::uint64_t waiting_bytes_ = 0;  // of output
    std::uint64_t next_seq_ = 1;
    std::chrono::nanoseconds last_time_{};
};

}  // namespace sandpipe::detail
