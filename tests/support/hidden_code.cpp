#include "support/hidden_code.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

namespace sandpipe::testing {
namespace {

constexpr std::string_view kSpace = "space for program headers";

/// Parts of a file by their offset; the whole stays a string.
template <typename Part>
std::span<Part> parts_at(std::string& file, std::size_t offset, std::size_t count) {
    if (offset + count * sizeof(Part) > file.size()) throw std::runtime_error("no such part in the library");
    return {reinterpret_cast<Part*>(file.data() + offset), count};
}

void relocate_text(std::string& file, const Elf64_Phdr& part) {
    for (Elf64_Dyn& entry : parts_at<Elf64_Dyn>(file, part.p_offset, part.p_filesz / sizeof(Elf64_Dyn) - 1)) {
        if (entry.d_tag != DT_NULL) continue;
        entry.d_tag = DT_TEXTREL;  // another end follows
        return;
    }
    throw std::runtime_error("the library has no room for DT_TEXTREL");
}

}  // namespace

void hide_code(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto& head = parts_at<Elf64_Ehdr>(file, 0, 1).front();
    const auto headers = parts_at<Elf64_Phdr>(file, head.e_phoff, head.e_phnum);
    const std::size_t space = file.find(kSpace);  // the first parts stand in memory as in the file
    if (space % alignof(Elf64_Phdr) != 0) throw std::runtime_error("the library has no room for headers");
    std::memcpy(parts_at<Elf64_Phdr>(file, space, headers.size()).data(), headers.data(), headers.size_bytes());
    for (Elf64_Phdr& part : headers) {
        if (part.p_type == PT_LOAD && part.p_flags == (PF_R | PF_X)) part.p_flags = PF_R;
        if (part.p_type == PT_DYNAMIC) relocate_text(file, part);
        if (part.p_type != PT_NOTE) continue;
        part.p_type = PT_PHDR;
        part.p_offset = part.p_vaddr = part.p_paddr = space;
    }
    std::ofstream(path, std::ios::binary) << file;
}

}  // namespace sandpipe::testing
