#include <sandpipe/tool/gate_decision.hpp>

#include "overloaded.hpp"

namespace sandpipe {

std::string_view to_string(const GateDecision& decision) noexcept {
    using Name = std::string_view;
    const tool::Overloaded names{
        [](const Declined&) -> Name { return "declined"; },
        [](const GateTimedOut&) -> Name { return "timed_out"; },
        [](const GateAborted&) -> Name { return "aborted"; },
        [](const Approved&) -> Name { return "approved"; },
    };
    return std::visit(names, decision);
}

}  // namespace sandpipe
