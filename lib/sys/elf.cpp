#include "elf.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sandpipe::sys {
namespace {

constexpr std::size_t kMaxHeaders = 64;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxDynamic = 64 * 1024;
constexpr std::size_t kMaxLine = 256;                              // BINPRM_BUF_SIZE
constexpr std::uint64_t kPositionIndependentProgram = 0x08000000;  // DF_1_PIE

/// All of it, or nothing.
bool read_at(int file, std::uint64_t offset, void* bytes, std::size_t size) {
    auto* to = static_cast<char*>(bytes);
    while (size > 0) {
        const ssize_t got = ::pread(file, to, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

/// The interpreter of "#! /bin/sh -e".
std::string script_interpreter(int file) {
    char bytes[kMaxLine];
    const ssize_t size = ::pread(file, bytes, sizeof bytes, 2);
    std::string_view line(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
    line = line.substr(0, line.find('\n'));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

struct Dynamic {
    bool has_name = false;  // DT_SONAME
    bool says_program = false;
};

bool read_dynamic(int file, const Elf64_Phdr& part, Dynamic& found) {
    std::vector<Elf64_Dyn> entries(std::min<std::uint64_t>(part.p_filesz, kMaxDynamic) / sizeof(Elf64_Dyn));
    if (!read_at(file, part.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return false;
    for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_SONAME) found.has_name = true;
        if (entry.d_tag == DT_FLAGS_1)
            found.says_program = (entry.d_un.d_val & kPositionIndependentProgram) != 0;
    }
    return true;
}

bool read_interpreter(int file, const Elf64_Phdr& part, std::string& interpreter) {
    if (part.p_filesz == 0 || part.p_filesz > kMaxText) return false;
    interpreter.resize(part.p_filesz);
    if (!read_at(file, part.p_offset, interpreter.data(), interpreter.size())) return false;
    interpreter.resize(std::min(interpreter.find('\0'), interpreter.size()));
    return true;
}

bool read_parts(int file, const Elf64_Ehdr& head, ProgramFacts& facts) {
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kMaxHeaders) return false;
    std::vector<Elf64_Phdr> parts(head.e_phnum);
    if (!read_at(file, head.e_phoff, parts.data(), parts.size() * sizeof(Elf64_Phdr))) return false;
    Dynamic dynamic;
    for (const Elf64_Phdr& part : parts) {
        if (part.p_type == PT_DYNAMIC && !read_dynamic(file, part, dynamic)) return false;
        if (part.p_type == PT_INTERP && !read_interpreter(file, part, facts.interpreter)) return false;
    }
    // A library may have an interpreter too, as libc has; then it has a name.
    const bool started = !facts.interpreter.empty() && !dynamic.has_name;
    facts.is_program = head.e_type != ET_DYN || dynamic.says_program || started;
    return true;
}

}  // namespace

ProgramFacts read_program_facts(int file) {
    ProgramFacts facts;
    Elf64_Ehdr head{};
    const ssize_t size = ::pread(file, &head, sizeof head, 0);
    const auto* bytes = reinterpret_cast<const char*>(&head);
    const std::string_view start(bytes, size > 0 ? static_cast<std::size_t>(size) : 0);
    facts.is_script = start.starts_with("#!");
    if (facts.is_script) facts.interpreter = script_interpreter(file);
    facts.is_elf = start.starts_with(std::string_view(ELFMAG, SELFMAG));
    if (!facts.is_elf) return facts;
    const bool known = start.size() == sizeof head && head.e_ident[EI_CLASS] == ELFCLASS64;
    if (!known || !read_parts(file, head, facts)) facts.is_program = true;
    return facts;
}

}  // namespace sandpipe::sys
