#pragma once

#include <cstdint>
#include <string_view>

namespace sandpipe::wire {

enum class ProcTreatment : std::uint8_t {
    hide,       ///< reading tells about the host, its kernel or the processes outside
    read_only,  ///< files that uid 0 could write by their mode, without any capability
};

struct ProcEntry {
    const char* name;
    ProcTreatment treatment;
};

// Left alone are the numbers that programs use and that name nobody (cpuinfo, meminfo, stat, interrupts,
// ...), and what the kernel shows by pid or network namespace. An entry that this kernel does not have is
// passed over.
inline constexpr ProcEntry kProcEntries[] = {
    {"sys", ProcTreatment::read_only},
    {"sysrq-trigger", ProcTreatment::read_only},
    {"irq", ProcTreatment::read_only},
    {"bus", ProcTreatment::read_only},
    {"fs", ProcTreatment::read_only},
    {"acpi", ProcTreatment::read_only},
    {"scsi", ProcTreatment::read_only},
    {"asound", ProcTreatment::read_only},
    {"driver", ProcTreatment::read_only},
    {"dynamic_debug", ProcTreatment::read_only},
    {"mtrr", ProcTreatment::read_only},
    {"kcore", ProcTreatment::hide},     // the memory of the machine
    {"kmsg", ProcTreatment::hide},      // the kernel's log
    {"kallsyms", ProcTreatment::hide},  // the kernel's addresses, as the next ones
    {"modules", ProcTreatment::hide},
    {"vmallocinfo", ProcTreatment::hide},
    {"iomem", ProcTreatment::hide},
    {"ioports", ProcTreatment::hide},
    {"slabinfo", ProcTreatment::hide},  // side channels on others' memory, as the next ones
    {"pagetypeinfo", ProcTreatment::hide},
    {"kpagecount", ProcTreatment::hide},
    {"kpageflags", ProcTreatment::hide},
    {"kpagecgroup", ProcTreatment::hide},
    {"keys", ProcTreatment::hide},  // the keyrings of the user, as the next one
    {"key-users", ProcTreatment::hide},
    {"timer_list", ProcTreatment::hide},  // processes outside, as the next ones
    {"timer_stats", ProcTreatment::hide},
    {"sched_debug", ProcTreatment::hide},
    {"latency_stats", ProcTreatment::hide},
    {"config.gz", ProcTreatment::hide},  // how the kernel was built
};

/// Whether a session's own /proc shows nothing at `path`, which is absolute.
[[nodiscard]] constexpr bool is_hidden_in_proc(std::string_view path) noexcept {
    constexpr std::string_view kProc = "/proc/";
    if (!path.starts_with(kProc)) return false;
    for (const ProcEntry& entry : kProcEntries)
        if (entry.treatment == ProcTreatment::hide && path.substr(kProc.size()) == entry.name) return true;
    return false;
}
static_assert(is_hidden_in_proc("/proc/kcore") && !is_hidden_in_proc("/proc/sys"));

}  // namespace sandpipe::wire
