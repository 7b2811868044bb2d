#include "output_sequencer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sandpipe::detail {
namespace {

constexpr OutputSequencer::Positions kNoEnds{std::numeric_limits<std::uint64_t>::max(),
                                             std::numeric_limits<std::uint64_t>::max()};

}  // namespace

void OutputSequencer::on_data(std::size_t pipe, std::string data, std::chrono::nanoseconds time) {
    if (data.empty()) return;
    waiting_bytes_ += data.size();
    held_.push_back({pipe, std::move(data), time});
    pump();
}

void OutputSequencer::on_denial(Denial denial, const Positions& ends) {
    marks_.push_back({std::move(denial), ends});
    pump();
}

void OutputSequencer::on_warning(Warning warning) { emit(std::move(warning)); }

void OutputSequencer::on_end(std::size_t pipe) {
    ended_[pipe] = true;
    pump();
}

void OutputSequencer::on_no_more() {
    ended_ = {true, true};
    pump();
}

void OutputSequencer::on_finished(Finished finished) { emit(std::move(finished)); }

OutputEvent OutputSequencer::pop() {
    Ready first = std::move(ready_.front());
    ready_.pop_front();
    if (first.other) return std::move(*first.other);
    waiting_bytes_ -= first.chunk.data.size();
    return std::move(first.chunk);
}

OutputSequencer::Ready OutputSequencer::make_ready(OutputEvent event) {
    if (auto* chunk = std::get_if<OutputChunk>(&event)) return {std::move(*chunk), nullptr};
    return {{}, std::make_unique<OutputEvent>(std::move(event))};
}

void OutputSequencer::unpop(OutputEvent event) {
    if (const auto* chunk = std::get_if<OutputChunk>(&event)) waiting_bytes_ += chunk->data.size();
    ready_.push_front(make_ready(std::move(event)));
}

void OutputSequencer::pump() {
    while (!marks_.empty()) {
        emit_held(marks_.front().ends);
        if (!reached()) return;
        emit(std::move(marks_.front().denial));
        marks_.pop_front();
    }
    emit_held(kNoEnds);
}

/// Emits what is held, in order of arrival, as far as it lies before `ends`.
void OutputSequencer::emit_held(const Positions& ends) {
    std::deque<Held> rest;
    for (Held& held : held_) {
        const std::uint64_t room = ends[held.pipe] - std::min(passed_[held.pipe], ends[held.pipe]);
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(room, held.data.size()));
        if (size > 0) {
            passed_[held.pipe] += size;
            emit(OutputChunk{0, held.time, tags_[held.pipe], held.data.substr(0, size)});
        }
        if (size < held.data.size()) rest.push_back({held.pipe, held.data.substr(size), held.time});
    }
    held_ = std::move(rest);
}

bool OutputSequencer::awaits(std::size_t pipe) const noexcept {
    return !marks_.empty() && !ended_[pipe] && passed_[pipe] < marks_.front().ends[pipe];
}

bool OutputSequencer::reached() const noexcept { return !awaits(0) && !awaits(1); }

void OutputSequencer::emit(OutputEvent event) {
    // A denied call may be told after output that was read later than the call was made, and written before it.
    std::visit(
        [this](auto& value) {
            value.seq = next_seq_++;
            value.time = last_time_ = std::max(last_time_, value.time);
        },
        event);
    if (const auto* denial = std::get_if<Denial>(&event)) denials_.push_back(*denial);
    ready_.push_back(make_ready(std::move(event)));
}

}  // namespace sandpipe::detail
