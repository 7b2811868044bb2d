#pragma once

#include <string_view>

#include "launcher/kernel/failure.hpp"
#include "launcher/view/masks.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

inline constexpr std::string_view kProc = "/proc";

/// Whether a step on `path` is for the inits, which each have a /proc of their own.
[[nodiscard]] bool is_in_proc(std::string_view path);
/// Whether an init can carry it out. Nothing of the host's proc is ever put there, and /proc as a whole
/// cannot be hidden: neither the supervisor nor most programs work without it.
[[nodiscard]] bool is_possible_in_proc(const wire::MountOp& op);

/// In the cell: makes the masks and mounts them over the host's /proc. It stays below them, because the
/// kernel lets a user namespace mount a fresh proc only while a whole one can be found in its mount
/// namespace.
[[nodiscard]] Outcome cover_proc(Masks& masks);

/// In an init: mounts the proc of its pid namespace over the masks, hides the host's facts in it, makes the
/// kernel's settings read-only, and carries out the plan's own steps below /proc.
[[nodiscard]] Outcome mount_proc(const wire::SessionPlan& plan);

}  // namespace sandpipe::launcher
