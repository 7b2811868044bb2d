#include "sandbox/network/domain_rules.hpp"

#include <sandpipe/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sandpipe {
namespace {

using Texts = std::vector<std::string>;

NetworkPolicy policy(Texts allowed, Texts denied = {}) {
    NetworkPolicy made;
    made.allowed_domains = std::move(allowed);
    made.denied_domains = std::move(denied);
    return made;
}

enum class Answer { yes, no, malformed };

Answer answer(const NetworkPolicy& rules, const std::string& authority) {
    const Parsed<Destination> asked = parse_authority(authority);
    if (!std::holds_alternative<Destination>(asked)) return Answer::malformed;
    return DomainRules(rules).judge(std::get<Destination>(asked)).allowed ? Answer::yes : Answer::no;
}

struct DomainCase {
    Texts allowed;
    Texts denied;
    std::string asked;
    Answer expected;
};

const Answer kYes = Answer::yes;
const Answer kNo = Answer::no;
const Answer kMalformed = Answer::malformed;

/// What proxies are asked for, as an authority.
const std::vector<DomainCase> kCases{
    // nothing is allowed by default
    {{}, {}, "a.b:80", kNo},
    {{}, {}, "127.0.0.1:80", kNo},
    {{}, {"x.y"}, "a.b:80", kNo},
    // exact names
    {{"a.b"}, {}, "a.b:80", kYes},
    {{"a.b"}, {}, "a.b:443", kYes},
    {{"a.b"}, {}, "a.b:65535", kYes},
    {{"a.b"}, {}, "x.a.b:80", kNo},
    {{"a.b"}, {}, "b:80", kNo},
    {{"a.b"}, {}, "a:80", kNo},
    {{"a.b"}, {}, "a.bb:80", kNo},
    {{"a.b"}, {}, "aa.b:80", kNo},
    {{"a.b"}, {}, "xa.b:80", kNo},
    {{"a.b"}, {}, "a.b.c:80", kNo},
    {{"a.b"}, {}, "a-b:80", kNo},
    {{"intranet"}, {}, "intranet:80", kYes},
    {{"intranet"}, {}, "intranet.b:80", kNo},
    {{"intranet"}, {}, "x.intranet:80", kNo},
    {{"a_b.c"}, {}, "a_b.c:80", kYes},
    {{"a.b", "c.d"}, {}, "c.d:80", kYes},
    // case
    {{"A.B"}, {}, "a.b:80", kYes},
    {{"a.b"}, {}, "A.b:80", kYes},
    {{"ExAmPlE.OrG"}, {}, "eXaMpLe.oRg:1", kYes},
    {{"*.A.B"}, {}, "X.a.b:80", kYes},
    // trailing dots
    {{"a.b."}, {}, "a.b:80", kYes},
    {{"a.b"}, {}, "a.b.:80", kYes},
    {{"a.b."}, {}, "a.b.:80", kYes},
    {{"*.a.b."}, {}, "x.a.b:80", kYes},
    {{"*.a.b"}, {}, "x.a.b.:80", kYes},
    {{"*.a.b"}, {}, "a.b.:80", kNo},
    {{"a.b"}, {}, "a.b..:80", kMalformed},
    {{"a.b"}, {}, ".a.b:80", kMalformed},
    {{"a.b"}, {}, "a..b:80", kMalformed},
    {{"a.b"}, {}, ".:80", kMalformed},
    // sub-domains, not the apex
    {{"*.a.b"}, {}, "x.a.b:80", kYes},
    {{"*.a.b"}, {}, "y.x.a.b:80", kYes},
    {{"*.a.b"}, {}, "a.b:80", kNo},
    {{"*.a.b"}, {}, "b:80", kNo},
    {{"*.a.b"}, {}, "xa.b:80", kNo},
    {{"*.a.b"}, {}, "x-a.b:80", kNo},
    {{"*.a.b"}, {}, "a.b.c:80", kNo},
    {{"*.a.b"}, {}, "x.a.b.c:80", kNo},
    {{"*.a.b"}, {}, "x.aa.b:80", kNo},
    {{"*.a.b"}, {}, "*.a.b:80", kMalformed},
    {{"*.a.b", "a.b"}, {}, "a.b:80", kYes},
    {{"*.example.org"}, {}, "evilexample.org:80", kNo},
    {{"*.example.org"}, {}, "example.org.evil.com:80", kNo},
    {{"example.org"}, {}, "example.org.evil.com:80", kNo},
    {{"example.org"}, {}, "example.orgx:80", kNo},
    // ports
    {{"a.b:443"}, {}, "a.b:443", kYes},
    {{"a.b:443"}, {}, "a.b:80", kNo},
    {{"a.b:443"}, {}, "a.b:22", kNo},
    {{"a.b:443"}, {}, "a.b:4430", kNo},
    {{"*.a.b:443"}, {}, "x.a.b:443", kYes},
    {{"*.a.b:443"}, {}, "x.a.b:80", kNo},
    {{"a.b:22", "a.b:443"}, {}, "a.b:22", kYes},
    {{"a.b:22", "a.b:443"}, {}, "a.b:23", kNo},
    {{"a.b"}, {}, "a.b", kMalformed},
    {{"a.b"}, {}, "a.b:", kMalformed},
    {{"a.b"}, {}, "a.b:0", kMalformed},
    {{"a.b"}, {}, "a.b:00080", kMalformed},
    {{"a.b"}, {}, "a.b:080", kMalformed},
    {{"a.b"}, {}, "a.b:65536", kMalformed},
    {{"a.b"}, {}, "a.b:99999999999999999999", kMalformed},
    {{"a.b"}, {}, "a.b:-1", kMalformed},
    {{"a.b"}, {}, "a.b:+80", kMalformed},
    {{"a.b"}, {}, "a.b: 80", kMalformed},
    {{"a.b"}, {}, "a.b:80 ", kMalformed},
    {{"a.b"}, {}, "a.b:0x50", kMalformed},
    {{"a.b"}, {}, "a.b:http", kMalformed},
    {{"a.b"}, {}, "a.b:80:80", kMalformed},
    {{"a.b"}, {}, ":80", kMalformed},
    {{"a.b"}, {}, "", kMalformed},
    // deny beats allow
    {{"a.b"}, {"a.b"}, "a.b:80", kNo},
    {{"*.a.b"}, {"x.a.b"}, "x.a.b:80", kNo},
    {{"*.a.b"}, {"x.a.b"}, "y.a.b:80", kYes},
    {{"x.a.b"}, {"*.a.b"}, "x.a.b:80", kNo},
    {{"a.b"}, {"*.a.b"}, "a.b:80", kYes},
    {{"a.b"}, {"*"}, "a.b:80", kNo},
    {{"127.0.0.1"}, {"*"}, "127.0.0.1:80", kNo},
    {{"a.b"}, {"a.b:22"}, "a.b:22", kNo},
    {{"a.b"}, {"a.b:22"}, "a.b:80", kYes},
    {{"a.b:22"}, {"a.b"}, "a.b:22", kNo},
    {{"a.b"}, {"*:22"}, "a.b:22", kNo},
    {{"a.b"}, {"*:22"}, "a.b:80", kYes},
    {{"a.b"}, {"A.B."}, "a.b:80", kNo},
    {{"a.b"}, {"*.b"}, "a.b:80", kNo},
    {{"a.c"}, {"*.b"}, "a.c:80", kYes},
    // IP literals, only exactly
    {{"1.2.3.4"}, {}, "1.2.3.4:80", kYes},
    {{"1.2.3.4:80"}, {}, "1.2.3.4:80", kYes},
    {{"1.2.3.4:80"}, {}, "1.2.3.4:81", kNo},
    {{"1.2.3.4"}, {}, "1.2.3.5:80", kNo},
    {{"1.2.3.4"}, {}, "1.2.3.40:80", kNo},
    {{"a.b"}, {}, "1.2.3.4:443", kNo},
    {{"*.3.a"}, {}, "1.2.3.4:80", kNo},
    {{"[::1]"}, {}, "[::1]:80", kYes},
    {{"::1"}, {}, "[::1]:80", kYes},
    {{"[::1]:80"}, {}, "[::1]:80", kYes},
    {{"[::1]:80"}, {}, "[::1]:81", kNo},
    {{"[0:0:0:0:0:0:0:1]"}, {}, "[::1]:80", kYes},
    {{"[2001:DB8::1]"}, {}, "[2001:db8::1]:80", kYes},
    {{"[2001:db8::1]"}, {}, "[2001:db8::2]:80", kNo},
    {{"1.2.3.4"}, {}, "[::ffff:1.2.3.4]:80", kYes},
    {{"[::ffff:1.2.3.4]"}, {}, "1.2.3.4:80", kYes},
    {{"1.2.3.4"}, {"::ffff:1.2.3.4"}, "1.2.3.4:80", kNo},
    {{"1.2.3.4"}, {}, "[::1.2.3.4]:80", kNo},
    {{"1.2.3.4"}, {}, "[64:ff9b::1.2.3.4]:80", kNo},
    {{"127.0.0.1"}, {}, "localhost:80", kNo},
    {{"localhost"}, {}, "127.0.0.1:80", kNo},
    {{"localhost"}, {}, "[::1]:80", kNo},
    {{"localhost:8080"}, {}, "localhost:8080", kYes},
    {{"localhost:8080"}, {}, "localhost:8081", kNo},
    {{"localhost"}, {}, "LOCALHOST.:1", kYes},
    {{"localhost"}, {}, "x.localhost:80", kNo},
    // numbers that some programs take for addresses
    {{"127.0.0.1"}, {}, "127.1:80", kNo},
    {{"127.0.0.1"}, {}, "127.0.1:80", kNo},
    {{"127.0.0.1"}, {}, "2130706433:80", kNo},
    {{"127.0.0.1"}, {}, "0x7f.1:80", kNo},
    {{"127.0.0.1"}, {}, "0x7f000001:80", kNo},
    {{"127.0.0.1"}, {}, "0X7F.0.0.1:80", kNo},
    {{"127.0.0.1"}, {}, "0177.0.0.1:80", kNo},
    {{"127.0.0.1"}, {}, "017700000001:80", kNo},
    {{"127.0.0.1"}, {}, "127.0.0.1.:80", kNo},
    {{"127.0.0.1"}, {}, "127.0.0.01:80", kNo},
    {{"127.0.0.1"}, {}, "127.0.0.256:80", kNo},
    {{"127.0.0.1"}, {}, "127.0.0.0x1:80", kNo},
    {{"127.0.0.1"}, {}, "0:80", kNo},
    {{"127.0.0.1"}, {}, "a.0x1:80", kNo},
    {{"127.0.0.1"}, {}, "a.1:80", kNo},
    {{"*.a.b"}, {}, "x.a.b.1:80", kNo},
    {{}, {"*"}, "127.1:80", kNo},
    {{"1a.b"}, {}, "1a.b:80", kYes},
    {{"1.b"}, {}, "1.b:80", kYes},
    {{"127.0.0.1"}, {}, "127%2e0.0.1:80", kMalformed},
    {{"127.0.0.1"},
     {},
     "\xef\xbc\x91"
     "27.0.0.1:80",
     kMalformed},  // a fullwidth digit
    // brackets and zones
    {{"::1"}, {}, "::1:80", kMalformed},
    {{"::1"}, {}, "[::1:80", kMalformed},
    {{"::1"}, {}, "::1]:80", kMalformed},
    {{"::1"}, {}, "[::1]80", kMalformed},
    {{"::1"}, {}, "[::1]x:80", kMalformed},
    {{"::1"}, {}, "[]:80", kMalformed},
    {{"1.2.3.4"}, {}, "[1.2.3.4]:80", kMalformed},
    {{"a.b"}, {}, "[a.b]:80", kMalformed},
    {{"fe80::1"}, {}, "[fe80::1%lo]:80", kMalformed},
    {{"fe80::1"}, {}, "[fe80::1%25lo]:80", kMalformed},
    // user information, fragments, paths, escapes
    {{"a.b"}, {}, "user@a.b:80", kMalformed},
    {{"a.b"}, {}, "a.b@evil.c:80", kMalformed},
    {{"a.b"}, {}, "a.b:80@evil.c:80", kMalformed},
    {{"a.b"}, {}, "evil.c#a.b:80", kMalformed},
    {{"a.b"}, {}, "evil.c#@a.b:80", kMalformed},
    {{"a.b"}, {}, "evil.c?.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c/.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c\\.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c%2f.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c%00.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c;.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c,x.a.b:80", kMalformed},
    // NUL, control characters, blanks
    {{"*.a.b"}, {}, std::string("evil.c\0.a.b:80", 14), kMalformed},
    {{"a.b"}, {}, std::string("a.b\0:80", 7), kMalformed},
    {{"a.b"}, {}, std::string("\0a.b:80", 7), kMalformed},
    {{"*.a.b"}, {}, "evil.c\r\nx.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c\nx.a.b:80", kMalformed},
    {{"*.a.b"}, {}, "evil.c\tx.a.b:80", kMalformed},
    {{"a.b"}, {}, " a.b:80", kMalformed},
    {{"a.b"}, {}, "a.b :80", kMalformed},
    {{"a.b"}, {}, "a .b:80", kMalformed},
    {{"a.b"},
     {},
     "\x7f"
     "a.b:80",
     kMalformed},
    // international names
    {{"xn--bcher-kva.example"}, {}, "xn--bcher-kva.example:80", kYes},
    {{"xn--bcher-kva.example"}, {}, "XN--BCHER-KVA.example:80", kYes},
    {{"xn--bcher-kva.example"},
     {},
     "b\xc3\xbc"
     "cher.example:80",
     kMalformed},
    {{"example.org"}, {}, "ex\xd0\xb0mple.org:80", kMalformed},      // Cyrillic
    {{"example.org"}, {}, "example\xe3\x80\x82org:80", kMalformed},  // an ideographic full stop
    {{"k.b"}, {}, "\xe2\x84\xaa.b:80", kMalformed},                  // the Kelvin sign is no k
    // forms of names
    {{"a.b"}, {}, "-a.b:80", kMalformed},
    {{"a.b"}, {}, "-oProxyCommand=x:80", kMalformed},
    {{"a.b"}, {}, "a-.b:80", kMalformed},
    {{"r3---sn-a.b"}, {}, "r3---sn-a.b:80", kYes},
    {{"a.b"}, {}, std::string(63, 'x') + ".b:80", kNo},
    {{"a.b"}, {}, std::string(64, 'x') + ".b:80", kMalformed},
};

TEST(DomainRules, TheTable) {
    EXPECT_GE(kCases.size(), 150U);
    for (const DomainCase& c : kCases) {
        Texts allowed = c.allowed;
        EXPECT_EQ(answer(policy(allowed, c.denied), c.asked), c.expected)
            << quoted_text(c.asked) << " with " << ::testing::PrintToString(c.allowed) << " and not "
            << ::testing::PrintToString(c.denied);
        // What a rule allows, or refuses, does not depend on the others or on their order.
        allowed.insert(allowed.begin(), "other.example:1");
        allowed.push_back("*.other.example");
        EXPECT_EQ(answer(policy(allowed, c.denied), c.asked), c.expected) << quoted_text(c.asked);
    }
}

TEST(DomainRules, LongNames) {
    std::string name;
    while (name.size() < 250) name += "x.";
    EXPECT_TRUE(std::holds_alternative<Host>(parse_host(name + "yyy")));  // 253
    EXPECT_TRUE(std::holds_alternative<Host>(parse_host(name + "yyy.")));
    EXPECT_FALSE(std::holds_alternative<Host>(parse_host(name + "yyyy")));
}

TEST(DomainRules, WrongEntriesAreNamed) {
    struct Wrong {
        std::string text;
        const char* part;
    };
    const std::vector<Wrong> cases{
        {"", "is empty"},
        {"*", "network.disabled"},
        {"*.", "network.disabled"},
        {"*:443", "network.disabled"},
        {"*.com", "top-level"},
        {"*.com.", "top-level"},
        {"*.com:443", "top-level"},
        {"a.*.b", "first label"},
        {"*a.b", "first label"},
        {"a.b.*", "first label"},
        {"*.*.b", "first label"},
        {"**.a.b", "first label"},
        {"https://a.b", "URL"},
        {"http://a.b:80/x", "URL"},
        {"a.b/x", "path"},
        {"a.b#x", "path"},
        {"user@a.b", "user information"},
        {"a.b:", "port"},
        {"a.b:0", "port"},
        {"a.b:65536", "port"},
        {"a.b:*", "port"},
        {"a.b:80-90", "port"},
        {"a b", "character"},
        {"a.b\n", "character"},
        {std::string("a\0b", 3), "character"},
        {"b\xc3\xbc"
         "cher.example",
         "punycode"},
        {"127.1", "number"},
        {"0x7f.1", "number"},
        {"10.0.0.0/8", "range of addresses"},
        {"*.1.2.3", "number"},
        {"*.1.2.3.4", "no name"},
        {"[::1", "brack"},
        {"[1.2.3.4]", "IPv6"},
        {"fe80::1%lo", "zones"},
        {"a..b", "empty label"},
        {"-a.b", "begins or ends"},
    };
    for (const Wrong& c : cases) {
        try {
            (void)DomainRules(policy({"fine.example", c.text}));
            ADD_FAILURE() << quoted_text(c.text) << " was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
            EXPECT_THAT(error.text(),
                        ::testing::HasSubstr("network.allowedDomains[1] is " + quoted_text(c.text)));
            const std::string part = std::string(c.part) == "brack" ? "\"[\"" : c.part;
            EXPECT_THAT(error.text(), ::testing::HasSubstr(part));
            EXPECT_THAT(error.text(), ::testing::HasSubstr("accepted: "));
        }
    }
    // To deny everything, or a whole top-level domain, opens nothing.
    EXPECT_NO_THROW((void)DomainRules(policy({}, {"*", "*:25", "*.com"})));
}

TEST(DomainRules, AVerdictNamesTheRule) {
    NetworkPolicy made = policy({"*.a.b", "x.a.b:443"}, {"no.a.b", "*.no.a.b"});
    made.denied_domain_reasons = {{"NO.a.b", "use the mirror"}};
    const auto judge = [&](const std::string& authority) {
        return DomainRules(made).judge(std::get<Destination>(parse_authority(authority)));
    };
    EXPECT_EQ(judge("x.a.b:443").rule, "allowedDomains x.a.b:443");
    EXPECT_EQ(judge("x.a.b:80").rule, "allowedDomains *.a.b");
    EXPECT_EQ(judge("no.a.b:80").rule, "deniedDomains no.a.b");
    EXPECT_EQ(judge("no.a.b:80").reason, "use the mirror");
    EXPECT_EQ(judge("x.no.a.b:80").rule, "deniedDomains *.no.a.b");
    EXPECT_EQ(judge("x.no.a.b:80").reason, std::nullopt);
    EXPECT_EQ(judge("z.z:80").rule, "");
    EXPECT_EQ(judge("z.z:80").reason, "not in allowedDomains: x.a.b:443, *.a.b");
    std::reverse(made.allowed_domains.begin(), made.allowed_domains.end());
    EXPECT_EQ(judge("z.z:80").reason, "not in allowedDomains: x.a.b:443, *.a.b");
}

TEST(DomainRules, AReasonNeedsItsRule) {
    NetworkPolicy made = policy({}, {"a.b"});
    made.denied_domain_reasons = {{"a.c", "why"}};
    try {
        (void)DomainRules(made);
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.text(), ::testing::HasSubstr("\"a.c\", which is no entry"));
    }
}

struct AddressCase {
    Texts allowed;
    Texts denied;
    std::string asked;
    std::string address;
    bool expected;
};

TEST(DomainRules, AddressesAreJudgedToo) {
    const std::vector<AddressCase> cases{
        {{"r.test"}, {}, "r.test:80", "93.184.216.34", true},
        {{"r.test"}, {}, "r.test:80", "2001:db8::1", true},
        {{"r.test"}, {}, "r.test:80", "10.1.2.3", true},
        {{"r.test"}, {}, "r.test:80", "127.0.0.1", false},
        {{"r.test"}, {}, "r.test:80", "::1", false},
        {{"r.test"}, {}, "r.test:80", "::ffff:127.0.0.1", false},
        {{"r.test"}, {}, "r.test:80", "0.0.0.0", false},
        {{"r.test"}, {}, "r.test:80", "169.254.1.1", false},
        {{"r.test"}, {}, "r.test:80", "169.254.169.254", false},
        {{"r.test"}, {}, "r.test:80", "64:ff9b::169.254.169.254", false},
        {{"r.test"}, {}, "r.test:80", "fe80::1", false},
        {{"r.test"}, {}, "r.test:80", "224.0.0.1", false},
        {{"r.test"}, {}, "r.test:80", "192.0.2.7", false},  // the host's own, below
        {{"r.test"}, {}, "r.test:80", "192.0.2.8", true},
        {{"r.test", "127.0.0.1"}, {}, "r.test:80", "127.0.0.1", true},
        {{"r.test", "127.0.0.1:80"}, {}, "r.test:80", "127.0.0.1", true},
        {{"r.test", "127.0.0.1:81"}, {}, "r.test:80", "127.0.0.1", false},
        {{"r.test", "192.0.2.7"}, {}, "r.test:80", "192.0.2.7", true},
        {{"r.test", "169.254.169.254"}, {}, "r.test:80", "169.254.169.254", true},
        {{"r.test"}, {"10.1.2.3"}, "r.test:80", "10.1.2.3", false},
        {{"r.test"}, {"10.1.2.3:81"}, "r.test:80", "10.1.2.3", true},
        {{"127.0.0.1"}, {}, "127.0.0.1:80", "127.0.0.1", true},
        {{"localhost"}, {}, "localhost:80", "127.0.0.1", true},
        {{"localhost"}, {}, "localhost:80", "::1", true},
        {{"localhost"}, {}, "localhost:80", "169.254.169.254", false},
        {{"localhost", "r.test"}, {}, "r.test:80", "127.0.0.1", false},
        {{"localhost"}, {"127.0.0.1"}, "localhost:80", "127.0.0.1", false},
    };
    const std::vector<IpAddress> own{*IpAddress::parse("127.0.0.1"), *IpAddress::parse("192.0.2.7")};
    for (const AddressCase& c : cases) {
        const auto asked = std::get<Destination>(parse_authority(c.asked));
        const DomainVerdict verdict =
            DomainRules(policy(c.allowed, c.denied)).judge_address(asked, *IpAddress::parse(c.address), own);
        EXPECT_EQ(verdict.allowed, c.expected) << c.asked << " at " << c.address;
        if (!c.expected && c.denied.empty()) {
            EXPECT_THAT(*verdict.reason, ::testing::HasSubstr("resolves to local address"));
        }
    }
}

TEST(DomainRules, WarningsAboutWhatGrantsNothing) {
    EXPECT_THAT(DomainRules(policy({"ok.test"}, {"*"})).warnings(),
                ::testing::ElementsAre(::testing::HasSubstr("deny * shadows every allow")));
    EXPECT_THAT(DomainRules(policy({"ok.test", "x.a.b"}, {"*.a.b"})).warnings(),
                ::testing::ElementsAre("allowedDomains x.a.b grants nothing: deniedDomains *.a.b prevails"));
    EXPECT_THAT(DomainRules(policy({"ok.test"}, {"ok.test:22", "*.ok.test", "other"})).warnings(),
                ::testing::IsEmpty());
    EXPECT_THAT(DomainRules(policy({"*.a.b:443"}, {"*.a.b"})).warnings(), ::testing::SizeIs(1));
    EXPECT_THAT(DomainRules(policy({}, {"*"})).warnings(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace sandpipe
