#include "sys/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sandpipe/unique_fd.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace sandpipe::sys {
namespace {

ProgramFacts facts_of(const std::string& bytes) {
    const unique_fd file(::memfd_create("elf", MFD_CLOEXEC));
    EXPECT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    return read_program_facts(file.get());
}

template <typename T>
void put(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Elf64_Phdr part(unsigned type, std::size_t offset, std::size_t size) {
    Elf64_Phdr made{};
    made.p_type = type;
    made.p_offset = offset;
    made.p_filesz = size;
    return made;
}

/// A head, an interpreter (unless empty) and a dynamic section, as far as the reader looks.
std::string elf(unsigned short type, const std::string& interpreter, const std::vector<Elf64_Dyn>& entries) {
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_type = type;
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = static_cast<unsigned short>(interpreter.empty() ? 1 : 2);
    const std::size_t data = sizeof head + head.e_phnum * sizeof(Elf64_Phdr);
    const std::size_t text = interpreter.empty() ? 0 : interpreter.size() + 1;
    std::string bytes;
    put(bytes, head);
    if (text > 0) put(bytes, part(PT_INTERP, data, text));
    put(bytes, part(PT_DYNAMIC, data + text, entries.size() * sizeof(Elf64_Dyn)));
    if (text > 0) bytes.append(interpreter).push_back('\0');
    for (const Elf64_Dyn& entry : entries) put(bytes, entry);
    return bytes;
}

Elf64_Dyn entry(long tag, unsigned long value) {
    Elf64_Dyn made{};
    made.d_tag = tag;
    made.d_un.d_val = value;
    return made;
}

constexpr unsigned long kPie = 0x08000000;

TEST(ProgramFacts, ProgramsAndLibraries) {
    const Elf64_Dyn end = entry(DT_NULL, 0);
    const Elf64_Dyn name = entry(DT_SONAME, 1);
    EXPECT_TRUE(facts_of(elf(ET_EXEC, "", {end})).is_program);
    EXPECT_TRUE(facts_of(elf(ET_DYN, "/ld", {entry(DT_FLAGS_1, kPie), end})).is_program);
    EXPECT_TRUE(facts_of(elf(ET_DYN, "", {entry(DT_FLAGS_1, kPie), end})).is_program);
    EXPECT_TRUE(facts_of(elf(ET_DYN, "/ld", {end})).is_program);
    EXPECT_FALSE(facts_of(elf(ET_DYN, "", {end})).is_program);
    EXPECT_FALSE(facts_of(elf(ET_DYN, "", {name, entry(DT_FLAGS_1, 1), end})).is_program);
    // As libc, which can be started, too.
    EXPECT_FALSE(facts_of(elf(ET_DYN, "/ld", {name, end})).is_program);
    EXPECT_EQ(facts_of(elf(ET_DYN, "/lib/ld.so", {end})).interpreter, "/lib/ld.so");
}

TEST(ProgramFacts, DamagedFilesCountAsPrograms) {
    const std::string whole = elf(ET_DYN, "/ld", {entry(DT_SONAME, 1), entry(DT_NULL, 0)});
    ASSERT_FALSE(facts_of(whole).is_program);
    for (std::size_t size = SELFMAG; size < whole.size(); size += 7)
        EXPECT_TRUE(facts_of(whole.substr(0, size)).is_program) << size;
    std::string other_class = whole;
    other_class[EI_CLASS] = ELFCLASS32;
    EXPECT_TRUE(facts_of(other_class).is_program);
    Elf64_Ehdr head{};
    std::memcpy(&head, whole.data(), sizeof head);
    head.e_phnum = 65535;
    std::string many = whole;
    std::memcpy(many.data(), &head, sizeof head);
    EXPECT_TRUE(facts_of(many).is_program);
}

TEST(ProgramFacts, ScriptsAndOtherFiles) {
    EXPECT_EQ(facts_of("#!/bin/sh -e\nexit\n").interpreter, "/bin/sh");
    EXPECT_EQ(facts_of("#! \t/usr/bin/env python3\n").interpreter, "/usr/bin/env");
    EXPECT_EQ(facts_of("#!\n").interpreter, "");
    EXPECT_TRUE(facts_of("#!/x").is_script);
    for (const char* text : {"", "#", "text",
                             "\x7f"
                             "EL"}) {
        EXPECT_FALSE(facts_of(text).is_elf) << text;
        EXPECT_FALSE(facts_of(text).is_program) << text;
    }
}

TEST(ProgramFacts, OfThisVeryProgram) {
    const unique_fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(read_program_facts(file.get()).is_program);
}

}  // namespace
}  // namespace sandpipe::sys
