#include "sandbox/network/own_addresses.hpp"

#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <sandpipe/unique_fd.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <memory>
#include <system_error>

#include "sandbox/network/endpoints.hpp"

namespace sandpipe {
namespace {

struct FreeInterfaces {
    void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

/// rtnetlink(7): the route to one address.
struct RouteQuestion {
    nlmsghdr head{};
    rtmsg route{};
    rtattr destination{};
    std::array<std::uint8_t, 16> address{};
};

RouteQuestion question_about(const IpAddress& address) {
    RouteQuestion question;
    const std::size_t size = address.is_v4() ? 4 : 16;
    if (address.is_v4())
        std::copy_n(address.v4().begin(), size, question.address.begin());
    else
        question.address = address.v6();
    question.destination.rta_type = RTA_DST;
    question.destination.rta_len = static_cast<unsigned short>(RTA_LENGTH(size));
    question.route.rtm_family = address.is_v4() ? AF_INET : AF_INET6;
    question.route.rtm_dst_len = static_cast<unsigned char>(size * 8);
    question.head.nlmsg_type = RTM_GETROUTE;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.head.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof(rtmsg)) + RTA_LENGTH(size));
    return question;
}

/// connect(2) would fail in the same way: it leads nowhere.
bool means_no_route(int error) {
    constexpr std::array kNone{ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, EOPNOTSUPP, EAFNOSUPPORT};
    return std::find(kNone.begin(), kNone.end(), error) != kNone.end();
}

[[noreturn]] void throw_about_route(int error) {
    throw std::system_error(error, std::generic_category(), "the route of an address");
}

/// RTN_UNSPEC where there is no route.
unsigned char type_of_route(const nlmsghdr* head, std::size_t size) {
    if (!NLMSG_OK(head, size)) throw_about_route(EPROTO);
    if (head->nlmsg_type == RTM_NEWROUTE) return reinterpret_cast<const rtmsg*>(NLMSG_DATA(head))->rtm_type;
    if (head->nlmsg_type != NLMSG_ERROR) throw_about_route(EPROTO);
    const int error = -reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
    if (!means_no_route(error)) throw_about_route(error);
    return RTN_UNSPEC;
}

}  // namespace

std::vector<IpAddress> own_addresses() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) < 0) throw std::system_error(errno, std::generic_category(), "getifaddrs");
    const std::unique_ptr<ifaddrs, FreeInterfaces> owner(list);
    std::vector<IpAddress> addresses;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next)
        if (const auto address = address_of(entry->ifa_addr)) addresses.push_back(*address);
    return addresses;
}

bool leads_here(const IpAddress& address) {
    const unique_fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    const RouteQuestion question = question_about(address);
    if (!socket || ::send(socket.get(), &question, question.head.nlmsg_len, 0) < 0) throw_about_route(errno);
    // The kernel has answered by now.
    alignas(nlmsghdr) std::array<char, 8192> answer{};
    const ssize_t size = ::recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (size < 0) throw_about_route(errno);
    const unsigned char type =
        type_of_route(reinterpret_cast<const nlmsghdr*>(answer.data()), static_cast<std::size_t>(size));
    return type == RTN_LOCAL || type == RTN_BROADCAST || type == RTN_ANYCAST;
}

std::vector<IpAddress> own_among(const std::vector<IpAddress>& addresses) {
    const std::vector<IpAddress> own = own_addresses();
    std::vector<IpAddress> found;
    std::copy_if(addresses.begin(), addresses.end(), std::back_inserter(found), [&](const IpAddress& address) {
        return std::find(own.begin(), own.end(), address) != own.end() || leads_here(address);
    });
    return found;
}

}  // namespace sandpipe
