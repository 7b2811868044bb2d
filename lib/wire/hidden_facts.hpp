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

// Left alone are what programs use and what tells of no device, process or setting of the host's (cpuinfo, meminfo,
// stat, loadavg, uptime, version, filesystems, cgroups, pressure, ...), and what the kernel shows by pid, network or
// ipc namespace (self, net, sysvipc, locks). An entry that this kernel does not have is passed over.
inline constexpr ProcEntry kProcEntries[] = {
    {"sys", ProcTreatment::read_only},
    {"sysrq-trigger", ProcTreatment::read_only},
    {"dynamic_debug", ProcTreatment::read_only},
    {"kcore", ProcTreatment::hide},  // the memory of the machine, as the next one
    {"vmcore", ProcTreatment::hide},
    {"kmsg", ProcTreatment::hide},      // the kernel's log
    {"kallsyms", ProcTreatment::hide},  // the kernel's addresses, as the next ones
    {"modules", ProcTreatment::hide},
    {"vmallocinfo", ProcTreatment::hide},
    {"iomem", ProcTreatment::hide},
    {"ioports", ProcTreatment::hide},
    {"slabinfo", ProcTreatment::hide},  // side channels on others' memory, as the next ones
    {"allocinfo", ProcTreatment::hide},
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
    {"lock_stat", ProcTreatment::hide},
    {"lockdep", ProcTreatment::hide},
    {"lockdep_stats", ProcTreatment::hide},
    {"lockdep_chains", ProcTreatment::hide},
    {"config.gz", ProcTreatment::hide},  // how the kernel was built, as the next ones how it was started
    {"cmdline", ProcTreatment::hide},
    {"bootconfig", ProcTreatment::hide},
    {"consoles", ProcTreatment::hide},
    {"interrupts", ProcTreatment::hide},  // when keys are pressed and packets come, as the next one
    {"softirqs", ProcTreatment::hide},
    {"partitions", ProcTreatment::hide},  // the host's disks and what they do, as the next ones
    {"diskstats", ProcTreatment::hide},
    {"mdstat", ProcTreatment::hide},
    {"swaps", ProcTreatment::hide},
    {"fs", ProcTreatment::hide},
    {"acpi", ProcTreatment::hide},  // its hardware, as the next ones
    {"asound", ProcTreatment::hide},
    {"bus", ProcTreatment::hide},
    {"driver", ProcTreatment::hide},
    {"irq", ProcTreatment::hide},
    {"mtrr", ProcTreatment::hide},
    {"scsi", ProcTreatment::hide},
    {"tty/driver", ProcTreatment::hide},
};

// Of the host's /sys, which a session sees read-only. Root could read all of them by mode.
inline constexpr const char* kHiddenInSys[] = {
    "firmware",            // tables and variables of the machine's firmware: serial numbers, keys
    "devices/virtual/dmi", // the same
    "devices/virtual/powercap",  // a side channel on what others compute
    "kernel/debug",        // the kernel's insides, as the next ones
    "kernel/tracing",
    "kernel/boot_params",
    "kernel/notes",
    "kernel/slab",
    "kernel/vmcoreinfo",
    "fs/pstore",  // crash logs
    "fs/bpf",     // what other programs have pinned
};

/// Whether `path` is one of the entries of `directory` ("/proc/") that `name` stands for, or below it.
[[nodiscard]] constexpr bool is_entry(std::string_view directory, std::string_view name,
                                      std::string_view path) noexcept {
    if (!path.starts_with(directory)) return false;
    path.remove_prefix(directory.size());
    return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '/');
}

[[nodiscard]] constexpr bool is_treated_in_proc(ProcTreatment treatment, std::string_view path) noexcept {
    for (const ProcEntry& entry : kProcEntries)
        if (entry.treatment == treatment && is_entry("/proc/", entry.name, path)) return true;
    return false;
}

/// Whether a session shows nothing at `path`, which is absolute, though the host may have something there.
[[nodiscard]] constexpr bool is_hidden_fact(std::string_view path) noexcept {
    for (const char* entry : kHiddenInSys)
        if (is_entry("/sys/", entry, path)) return true;
    return is_treated_in_proc(ProcTreatment::hide, path);
}

[[nodiscard]] constexpr bool is_read_only_in_proc(std::string_view path) noexcept {
    return is_treated_in_proc(ProcTreatment::read_only, path);
}
static_assert(is_hidden_fact("/proc/kcore") && !is_hidden_fact("/proc/sys") && is_read_only_in_proc("/proc/sys/vm"));
static_assert(is_hidden_fact("/proc/bus/pci") && !is_hidden_fact("/proc/busy") && !is_hidden_fact("/proc"));
static_assert(is_hidden_fact("/sys/kernel/slab/x") && !is_hidden_fact("/sys/kernel"));

}  // namespace sandpipe::wire
