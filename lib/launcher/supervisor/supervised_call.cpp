#include "launcher/supervisor/supervised_call.hpp"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "launcher/paths/judge.hpp"

namespace sandpipe::launcher {
namespace {

int directory_argument(const seccomp_data& data, std::int8_t position) {
    return position < 0 ? AT_FDCWD : static_cast<int>(data.args[position]);
}

/// As openat2(2) has it: what a longer one says beyond this version must be nothing. Where it is more, the kernel may
/// answer.
int read_how(const seccomp_data& data, const Caller& caller, open_how& how) {
    std::array<char, 4096> given;
    const std::uint64_t size = data.args[3];
    if (size < sizeof how) return -EINVAL;
    if (size > given.size()) return -E2BIG;
    if (const int error = caller.read(data.args[2], given.data(), size); error < 0) return error;
    std::memcpy(&how, given.data(), sizeof how);
    const auto is_set = [](char byte) { return byte != 0; };
    return std::any_of(given.begin() + sizeof how, given.begin() + static_cast<std::ptrdiff_t>(size), is_set) ? -E2BIG
                                                                                                              : 0;
}

int read_open_flags(const seccomp_data& data, const Caller& caller, Call& call) {
    const NotifiedCall& row = *call.row;
    if (row.number == __NR_openat2) return read_how(data, caller, call.how);
    const std::uint64_t given = row.decisive_argument < 0 ? 0 : data.args[row.decisive_argument];
    call.how.flags = static_cast<unsigned>(given) | static_cast<unsigned>(row.at.implied_flags);
    return 0;
}

void read_registers(const seccomp_data& data, Call& call) {
    const CallArguments& at = call.row->at;
    call.directory = directory_argument(data, at.directory);
    call.second_directory = directory_argument(data, at.second_directory);
    if (at.flags >= 0) call.flags = static_cast<int>(data.args[at.flags]);
    if (call.row->act != Act::open) call.flags |= at.implied_flags;
    if (call.row->number == __NR_truncate) call.length = static_cast<off_t>(data.args[1]);
    if (call.row->act == Act::make_executable) {
        call.address = data.args[0];
        call.size = data.args[1];
    }
    if (at.mode < 0) return;
    call.mode = static_cast<mode_t>(data.args[at.mode]);
    call.how.mode = call.mode & 07777;  // open(2) ignores the rest, openat2(2) would refuse it
    call.device = static_cast<dev_t>(data.args[at.mode + 1]);
}

int read_paths(const seccomp_data& data, const Caller& caller, Call& call) {
    const CallArguments& at = call.row->at;
    call.on_descriptor = at.path < 0;
    if (call.on_descriptor) return 0;
    const std::uint64_t address = data.args[at.path];
    // utimensat(2): no path at all means the descriptor; some of the newer calls have that too.
    const bool takes_none = call.row->act == Act::change || call.row->act == Act::set_attribute;
    if (address == 0 && takes_none && at.directory >= 0 && call.directory >= 0) {
        call.on_descriptor = true;
        return 0;
    }
    int error = caller.read_path(address, call.path);
    if (error == 0 && at.second_path >= 0)
        error = caller.read_path(data.args[at.second_path], call.second_path);
    if (error == 0 && call.row->act == Act::make_symlink) error = caller.read_path(data.args[0], call.text);
    if (call.path.empty() && (call.flags & AT_EMPTY_PATH)) call.on_descriptor = true;
    return error;
}

/// As setxattrat(2) has it, since 6.13.
struct AttributeArguments {
    std::uint64_t value;
    std::uint32_t size;
    std::uint32_t flags;
};

int read_attribute_arguments(const seccomp_data& data, const Caller& caller, const CallArguments& at,
                             AttributeArguments& given) {
    const auto* args = data.args + at.attribute + 1;
    if (data.nr == __NR_setxattr || data.nr == __NR_lsetxattr || data.nr == __NR_fsetxattr) {
        given.value = args[0];
        given.flags = static_cast<std::uint32_t>(args[2]);
        if (args[1] > XATTR_SIZE_MAX) return -E2BIG;
        given.size = static_cast<std::uint32_t>(args[1]);
        return 0;
    }
    if (args[1] < sizeof given) return -EINVAL;
    if (args[1] > sizeof given) return -E2BIG;  // more than this version knows
    if (const int error = caller.read(args[0], &given, sizeof given); error < 0) return error;
    return given.size > XATTR_SIZE_MAX ? -E2BIG : 0;
}

/// In the order in which setxattr(2) finds what is wrong.
int read_attribute(const seccomp_data& data, const Caller& caller, Call& call) {
    AttributeArguments given{};
    const int wrong = read_attribute_arguments(data, caller, call.row->at, given);
    if (wrong == -EINVAL || wrong == -EFAULT) return wrong;
    call.attribute_flags = static_cast<int>(given.flags);
    if (given.flags & ~std::uint32_t{XATTR_CREATE | XATTR_REPLACE}) return -EINVAL;
    const int error = caller.read_path(data.args[call.row->at.attribute], call.attribute);
    if (error == -ENAMETOOLONG) return -ERANGE;
    if (error < 0) return error;
    if (call.attribute.empty() || call.attribute.size() > XATTR_NAME_MAX) return -ERANGE;
    if (wrong < 0) return wrong;
    call.value.resize(given.size);
    return given.size == 0 ? 0 : caller.read(given.value, call.value.data(), call.value.size());
}

}  // namespace

int read_call(const NotifiedCall& row, const seccomp_data& data, const Caller& caller, Call& call) {
    call.row = &row;
    read_registers(data, call);
    const bool removes_directory = row.act == Act::remove && (call.flags & AT_REMOVEDIR);
    call.operation = removes_directory ? "rmdir" : row.operation;
    if (row.act == Act::open)
        if (const int error = read_open_flags(data, caller, call); error < 0) return error;
    if (row.act == Act::set_attribute)
        if (const int error = read_attribute(data, caller, call); error < 0) return error;
    return read_paths(data, caller, call);
}

}  // namespace sandpipe::launcher
