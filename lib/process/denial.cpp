#include <sandpipe/denial.hpp>

#include <array>
#include <cstddef>

namespace sandpipe {
namespace {

constexpr std::array<std::string_view, 7> kDenialKinds{"write",  "read",   "exec",   "connect",
                                                       "domain", "socket", "syscall"};
static_assert(kDenialKinds.size() == static_cast<std::size_t>(DenialKind::syscall) + 1,
              "a name for each, in order");

}  // namespace

std::string_view to_string(DenialKind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index < kDenialKinds.size() ? kDenialKinds[index] : "unknown";
}

}  // namespace sandpipe
