#include "sandbox/network/ip_address.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sandpipe {
namespace {

TEST(IpAddress, IsParsedStrictly) {
    struct Case {
        const char* text;
        const char* canonical;  // "": refused
    };
    const std::vector<Case> cases{
        {"127.0.0.1", "127.0.0.1"},
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"256.0.0.1", ""},
        {"1.2.3", ""},
        {"127.1", ""},
        {"2130706433", ""},
        {"0x7f.0.0.1", ""},
        {"0177.0.0.1", ""},
        {"127.0.0.01", ""},
        {"1.2.3.4.", ""},
        {"1.2.3.4 ", ""},
        {" 1.2.3.4", ""},
        {"1.2.3.4.5", ""},
        {"", ""},
        {"::1", "::1"},
        {"0:0:0:0:0:0:0:1", "::1"},
        {"2001:DB8::A", "2001:db8::a"},
        {"::ffff:127.0.0.1", "127.0.0.1"},
        {"::ffff:7f00:1", "127.0.0.1"},
        {"::127.0.0.1", "::127.0.0.1"},
        {"[::1]", ""},
        {"fe80::1%eth0", ""},
        {"1::2::3", ""},
        {":::", ""},
        {"12345::", ""},
    };
    for (const Case& c : cases) {
        const auto address = IpAddress::parse(c.text);
        EXPECT_EQ(address ? address->text() : "", c.canonical) << c.text;
    }
    EXPECT_FALSE(IpAddress::parse(std::string_view("127.0.0.1\0x", 11)));
}

TEST(IpAddress, ClassesKnowTheirBorders) {
    struct Case {
        const char* text;
        AddressClass expected;
    };
    const std::vector<Case> cases{
        {"0.0.0.0", AddressClass::unspecified},
        {"0.255.255.255", AddressClass::unspecified},
        {"1.0.0.0", AddressClass::global},
        {"126.255.255.255", AddressClass::global},
        {"127.0.0.0", AddressClass::loopback},
        {"127.255.255.255", AddressClass::loopback},
        {"128.0.0.0", AddressClass::global},
        {"169.253.255.255", AddressClass::global},
        {"169.254.0.0", AddressClass::link_local},
        {"169.254.169.254", AddressClass::metadata},
        {"169.254.170.2", AddressClass::metadata},
        {"169.255.0.0", AddressClass::global},
        {"168.63.129.16", AddressClass::metadata},
        {"100.100.100.200", AddressClass::metadata},
        {"100.100.100.201", AddressClass::private_use},
        {"100.63.255.255", AddressClass::global},
        {"100.128.0.0", AddressClass::global},
        {"192.0.0.192", AddressClass::metadata},
        {"10.0.0.1", AddressClass::private_use},
        {"11.0.0.0", AddressClass::global},
        {"172.15.255.255", AddressClass::global},
        {"172.16.0.0", AddressClass::private_use},
        {"172.31.255.255", AddressClass::private_use},
        {"172.32.0.0", AddressClass::global},
        {"192.168.1.1", AddressClass::private_use},
        {"192.169.0.0", AddressClass::global},
        {"223.255.255.255", AddressClass::global},
        {"224.0.0.1", AddressClass::multicast},
        {"239.255.255.255", AddressClass::multicast},
        {"255.255.255.255", AddressClass::multicast},
        {"93.184.216.34", AddressClass::global},
        {"::", AddressClass::unspecified},
        {"::1", AddressClass::loopback},
        {"::2", AddressClass::unspecified},  // IPv4-compatible 0.0.0.2
        {"::127.0.0.1", AddressClass::loopback},
        {"::ffff:127.0.0.1", AddressClass::loopback},
        {"::ffff:169.254.169.254", AddressClass::metadata},
        {"::ffff:0:127.0.0.1", AddressClass::loopback},
        {"64:ff9b::127.0.0.1", AddressClass::loopback},
        {"64:ff9b:1::169.254.169.254", AddressClass::metadata},
        {"64:ff9b::a9fe:a9fe", AddressClass::metadata},
        {"64:ff9b::93.184.216.34", AddressClass::global},
        {"2002:7f00:1::", AddressClass::loopback},
        {"2002:a9fe:a9fe::1", AddressClass::metadata},
        {"fe80::1", AddressClass::link_local},
        {"febf::1", AddressClass::link_local},
        {"fec0::1", AddressClass::global},
        {"ff02::1", AddressClass::multicast},
        {"fd00:ec2::254", AddressClass::metadata},
        {"fd20:ce::254", AddressClass::metadata},
        {"fd00::1", AddressClass::private_use},
        {"2001:db8::1", AddressClass::global},
    };
    for (const Case& c : cases)
        EXPECT_EQ(to_string(classify(*IpAddress::parse(c.text))), to_string(c.expected)) << c.text;
}

TEST(IpAddress, WhatIsThisMachineOrItsCloudNeedsARuleOfItsOwn) {
    for (const AddressClass one : {AddressClass::unspecified, AddressClass::loopback, AddressClass::link_local,
                                   AddressClass::metadata, AddressClass::multicast})
        EXPECT_TRUE(needs_own_rule(one)) << to_string(one);
    EXPECT_FALSE(needs_own_rule(AddressClass::global));
    EXPECT_FALSE(needs_own_rule(AddressClass::private_use));
}

}  // namespace
}  // namespace sandpipe
