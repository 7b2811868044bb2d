#include "launcher/supervisor/socket_words.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <span>

#include "launcher/kernel/refused_call.hpp"

namespace sandpipe::launcher {
namespace {

struct Named {
    int value;
    const char* name;
};

// Those that a program may really ask for; others say their number.
constexpr Named kFamilies[] = {
    {AF_UNSPEC, "AF_UNSPEC"}, {AF_UNIX, "AF_UNIX"},     {AF_INET, "AF_INET"},     {AF_INET6, "AF_INET6"},
    {AF_PACKET, "AF_PACKET"}, {AF_NETLINK, "AF_NETLINK"}, {AF_ALG, "AF_ALG"},     {AF_VSOCK, "AF_VSOCK"},
    {AF_KEY, "AF_KEY"},       {AF_BLUETOOTH, "AF_BLUETOOTH"}, {AF_CAN, "AF_CAN"}, {AF_TIPC, "AF_TIPC"},
    {AF_RDS, "AF_RDS"},       {AF_NFC, "AF_NFC"},       {AF_QIPCRTR, "AF_QIPCRTR"}, {AF_SMC, "AF_SMC"},
    {AF_XDP, "AF_XDP"},       {AF_IB, "AF_IB"},         {AF_KCM, "AF_KCM"},       {AF_X25, "AF_X25"},
    {AF_AX25, "AF_AX25"},     {AF_LLC, "AF_LLC"},       {AF_PPPOX, "AF_PPPOX"},
};
constexpr Named kTypes[] = {
    {SOCK_STREAM, "SOCK_STREAM"}, {SOCK_DGRAM, "SOCK_DGRAM"},         {SOCK_RAW, "SOCK_RAW"},
    {SOCK_RDM, "SOCK_RDM"},       {SOCK_SEQPACKET, "SOCK_SEQPACKET"}, {SOCK_DCCP, "SOCK_DCCP"},
};
constexpr Named kInetProtocols[] = {
    {IPPROTO_TCP, "IPPROTO_TCP"}, {IPPROTO_UDP, "IPPROTO_UDP"}, {IPPROTO_SCTP, "IPPROTO_SCTP"},
    {IPPROTO_DCCP, "IPPROTO_DCCP"}, {kL2tp, "IPPROTO_L2TP"},
};

std::string name_of(int value, std::span<const Named> names, const char* otherwise) {
    for (const Named& named : names)
        if (named.value == value) return named.name;
    return otherwise + std::to_string(value);
}

}  // namespace

std::string socket_words(const seccomp_data& call) {
    const int family = static_cast<int>(call.args[0]);
    const int type = static_cast<int>(call.args[1] & kSocketTypeMask);
    const int protocol = static_cast<int>(call.args[2]);
    std::string words = name_of(family, kFamilies, "family ") + ", " + name_of(type, kTypes, "type ");
    if (is_inet_family(family) && protocol != 0) words += ", " + name_of(protocol, kInetProtocols, "protocol ");
    return words;
}

}  // namespace sandpipe::launcher
