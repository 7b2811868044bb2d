// The handshake: it ends the same way however its input is cut, and holds no more than it was given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/network/socks5.hpp"

using namespace sandpipe;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

struct Outcome {
    Socks5Handshake::Step step = Socks5Handshake::Step::more;
    std::string output;
    Destination destination;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(std::string_view input, std::size_t piece) {
    Socks5Handshake handshake;
    Outcome outcome;
    while (!input.empty() && outcome.step == Socks5Handshake::Step::more) {
        outcome.step = handshake.on_input(input.substr(0, piece));
        outcome.output += handshake.take_output();
        input.remove_prefix(std::min(piece, input.size()));
    }
    if (outcome.step == Socks5Handshake::Step::connect) outcome.destination = handshake.destination();
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const Outcome whole = run(input, input.size() + 1);
    require(whole == run(input, 1));
    require(whole == run(input, 7));
    if (whole.step == Socks5Handshake::Step::connect) {
        require(whole.destination.port != 0);
        require(std::holds_alternative<Destination>(parse_authority(whole.destination.text())));
    }
    return 0;
}
