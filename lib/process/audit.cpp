#include <sandpipe/audit.hpp>

#include <array>

namespace sandpipe {
namespace {

// In the order of the variant's alternatives.
constexpr std::array<std::string_view, 6> kKindNames{"bypass", "denied",   "start_failed",
                                                     "weaker", "narrowed", "warning"};
static_assert(kKindNames.size() == std::variant_size_v<decltype(AuditEvent::what)>);

}  // namespace

std::string_view kind_name(const AuditEvent& event) noexcept {
    return event.what.valueless_by_exception() ? std::string_view() : kKindNames[event.what.index()];
}

}  // namespace sandpipe
