#pragma once

namespace sandpipe::sys {

/// Closes the descriptors `first` to `last`, both included: by close_range(2) or, where the kernel refuses that or it
/// is not to be used, one by one, as /proc/self/fd lists them. Raw system calls only: a child that shares its
/// parent's memory, but not its table of descriptors, may call it. Returns 0, or -errno where it cannot tell what is
/// open: then something may have stayed open.
[[nodiscard]] int close_range(unsigned first, unsigned last, bool by_call = true) noexcept;

}  // namespace sandpipe::sys
