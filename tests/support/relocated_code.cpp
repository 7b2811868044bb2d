#include "support/relocated_code.hpp"

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace sandpipe::testing {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kPage = 0x1000;
constexpr std::uint64_t kCode = 2 * kPage;  // where the code comes to stand, beyond what the file has

/// write(1, "code ran\n", 9) and a return, in whole words.
constexpr std::string_view kInstructions =
    "\xb8\x01\x00\x00\x00"          // mov $1, %eax
    "\xbf\x01\x00\x00\x00"          // mov $1, %edi
    "\x48\x8d\x35\x08\x00\x00\x00"  // lea 8(%rip), %rsi
    "\xba\x09\x00\x00\x00"          // mov $9, %edx
    "\x0f\x05"                      // syscall
    "\xc3"                          // ret
    "code ran\n"
    "\x00\x00\x00\x00\x00\x00"sv;
constexpr std::size_t kWords = kInstructions.size() / sizeof(std::uint64_t);
static_assert(kInstructions.size() % sizeof(std::uint64_t) == 0);

/// The whole file, which stands in memory as it is.
struct Library {
    Elf64_Ehdr head{};
    std::array<Elf64_Phdr, 4> parts{};
    std::array<Elf64_Dyn, 10> dynamic{};
    std::array<Elf64_Sym, 2> symbols{};
    std::array<std::uint32_t, 6> hash{1, 2, 0, 0, 0, 0};  // one bucket, two symbols, none of them to be found
    std::array<Elf64_Rela, kWords> words{};
    std::array<char, 8> names{};
};

Elf64_Phdr part(std::uint32_t type, std::uint32_t rights, std::uint64_t offset, std::uint64_t in_file,
                std::uint64_t in_memory) {
    return {type, rights, offset, offset, offset, in_file, in_memory, type == PT_LOAD ? kPage : 16};
}

void describe(Library& library) {
    Elf64_Ehdr& head = library.head;
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    head.e_type = ET_DYN;
    head.e_machine = EM_X86_64;
    head.e_version = EV_CURRENT;
    head.e_phoff = offsetof(Library, parts);
    head.e_ehsize = sizeof(Elf64_Ehdr);
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = static_cast<Elf64_Half>(library.parts.size());
}

void lay_out(Library& library) {
    Elf64_Phdr code = part(PT_LOAD, PF_R | PF_W | PF_X, kCode, 0, kPage);
    code.p_offset = 0;
    library.parts = {
        part(PT_LOAD, PF_R | PF_W, 0, sizeof(Library), sizeof(Library)), code,
        part(PT_DYNAMIC, PF_R | PF_W, offsetof(Library, dynamic), sizeof library.dynamic, sizeof library.dynamic),
        part(PT_GNU_STACK, PF_R | PF_W, 0, 0, 0)};
    library.dynamic = {{{DT_HASH, {offsetof(Library, hash)}},
                        {DT_STRTAB, {offsetof(Library, names)}},
                        {DT_STRSZ, {sizeof library.names}},
                        {DT_SYMTAB, {offsetof(Library, symbols)}},
                        {DT_SYMENT, {sizeof(Elf64_Sym)}},
                        {DT_RELA, {offsetof(Library, words)}},
                        {DT_RELASZ, {sizeof library.words}},
                        {DT_RELAENT, {sizeof(Elf64_Rela)}},
                        {DT_INIT, {kCode}},
                        {DT_NULL, {0}}}};
}

/// The symbol's value is 0, wherever the library stands: so each word gets what its relocation adds.
void relocate(Library& library) {
    library.symbols[1].st_shndx = SHN_ABS;
    for (std::size_t i = 0; i < kWords; ++i) {
        Elf64_Rela& word = library.words[i];
        word.r_offset = kCode + i * sizeof(std::uint64_t);
        word.r_info = ELF64_R_INFO(std::uint64_t{1}, R_X86_64_64);
        std::memcpy(&word.r_addend, kInstructions.data() + i * sizeof(std::uint64_t), sizeof word.r_addend);
    }
}

}  // namespace

void write_relocated_code(const std::string& path) {
    Library library;
    describe(library);
    lay_out(library);
    relocate(library);
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&library), sizeof library);
    if (!out.flush()) throw std::runtime_error("the library cannot be written");
}

}  // namespace sandpipe::testing
