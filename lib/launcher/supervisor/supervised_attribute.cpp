#include <endian.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <cstring>
#include <optional>

#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/supervisor/supervised_attempt.hpp"

namespace sandpipe::launcher {
namespace {

/// The owner's rights, as in a mode, that an access control list sets (acl(5)): of the object, or of what the host and
/// others will make in it.
std::optional<std::uint32_t> owner_rights(const Call& call) {
    if (!call.attribute.starts_with("system.")) return {};
    const bool is_default = call.attribute == "system.posix_acl_default";
    // Lists of other file systems (nfs4_acl, cifs_acl ...) have forms of their own, and may take all rights.
    if (call.attribute != "system.posix_acl_access" && !is_default) return 0;
    posix_acl_xattr_entry entry{};
    for (std::size_t at = sizeof(posix_acl_xattr_header); at + sizeof entry <= call.value.size(); at += sizeof entry) {
        std::memcpy(&entry, call.value.data() + at, sizeof entry);
        if (::le16toh(entry.e_tag) != ACL_USER_OBJ) continue;
        const std::uint32_t rights = ::le16toh(entry.e_perm);
        // A directory that its maker cannot write in is as closed to them as one that cannot be searched.
        return is_default && !(rights & ACL_WRITE) ? 0 : rights << 6;
    }
    return {};  // none, or nothing that the kernel takes
}

}  // namespace

Answer Attempt::set_attribute() {
    Resolver resolver(caller_);
    Spot spot;
    if (const int error = find_changed(resolver, spot); error < 0) return unreachable(resolver, error);
    const bool by_number = call_.row->number == __NR_fsetxattr;
    return settle(judge_attribute(rules_, site_of(spot), owner_rights(call_)), spot, {}, [&] {
        if (by_number && caller_.is_path_only(call_.directory)) return -EBADF;
        const OwnDescriptor object(spot.object.get());
        return result_of(::setxattr(object.path(), call_.attribute.c_str(), call_.value.data(), call_.value.size(),
                                    call_.attribute_flags));
    });
}

}  // namespace sandpipe::launcher
