#include "wire/messages.hpp"

#include <gtest/gtest.h>

namespace sandpipe::wire {
namespace {

StartCommand start_command() {
    StartCommand message;
    message.id = 0x1122334455667788;
    message.programs = {"/a/b", ""};
    message.argv = {"b", "", "x y", std::string(300, 'z')};
    message.env = {"A=1", "B="};
    message.cwd = "/w";
    message.end_survivors = true;
    return message;
}

Denied denied() {
    Denied message;
    message.id = 7;
    message.kind = 3;
    message.operation = "rename";
    message.path = "/a";
    message.resolved = "/b";
    message.second_path = "/c";
    message.second_resolved = "/d";
    message.error = 30;
    message.rule = "rule";
    message.pid = 12;
    message.program = "mv";
    message.probe = true;
    message.folded = 99;
    return message;
}

MakeCell make_cell() {
    MakeCell message;
    MountOp op;
    op.step = MountStep::mask_with_holes;
    op.path = "/p";
    op.slot = 3;
    op.is_directory = false;
    op.bytes = 1ULL << 40U;
    op.holes = {"/p/q", "/p/r"};
    op.hole_is_directory = {1, 0};
    message.plan.mounts = {op, MountOp{}};
    message.plan.rules = AccessRules(
        {{Access::deny_read, "/s", "~/s", {}, false}, {Access::private_write, "/tmp", "", {}, false}});
    message.plan.rules.enabled = false;
    message.plan.own_network = false;
    message.plan.proxy_ports = {3128, 65535};
    message.plan.workspace = "/work space";
    return message;
}

CellReady cell_ready() {
    CellReady message;
    message.facts.user_namespace = true;
    message.facts.landlock_abi = 7;
    message.facts.listener_error = 16;
    message.facts.given_up = {GivenUp{"one", 1}, GivenUp{"two", 13}};
    return message;
}

const std::int64_t kBig = 0x0102030405060708;

/// Each kind of message once, encoded.
std::vector<std::string> one_of_each() {
    return {encode(start_command()),
            encode(make_cell()),
            encode(DiscardCommand{5}),
            encode(cell_ready()),
            encode(Failure{Stage::cwd, 2, "/x", "/y", 3}),
            encode(Started{kBig, 42}),
            encode(denied()),
            encode(Ended{kBig, 9, 2, 3, 4, 5, true}),
            encode(Signal{15}),
            encode(Acknowledge{6}),
            encode(FindSocketHolder{7, 0x0100007f, 40000, 3128}),
            encode(SocketHolder{8, 12, "curl"})};
}

template <typename Message>
bool takes(std::string_view packet) {
    Message message;
    return decode(packet, message);
}

/// How many of the decoders take `packet`.
template <typename... Messages>
int takers(std::string_view packet) {
    return (0 + ... + static_cast<int>(takes<Messages>(packet)));
}

int all_takers(std::string_view packet) {
    return takers<StartCommand, MakeCell, DiscardCommand, CellReady, Failure, Started, Denied, Ended, Signal,
                  Acknowledge, FindSocketHolder, SocketHolder>(packet);
}

TEST(Messages, ComeBackAsTheyWere) {
    StartCommand start;
    ASSERT_TRUE(decode(encode(start_command()), start));
    EXPECT_EQ(start.id, start_command().id);
    EXPECT_EQ(start.programs, start_command().programs);
    EXPECT_EQ(start.argv, start_command().argv);
    EXPECT_EQ(start.env, start_command().env);
    EXPECT_EQ(start.cwd, "/w");
    EXPECT_TRUE(start.end_survivors);
    Ended ended;
    ASSERT_TRUE(decode(encode(Ended{kBig, 9, 2, 3, 4, 5, true}), ended));
    EXPECT_EQ(ended.monotonic_ns, kBig);
    EXPECT_EQ(ended.wait_status, 9);
    EXPECT_EQ(ended.survivors_ended, 2U);
    EXPECT_TRUE(ended.abandoned);
    EXPECT_EQ(ended.user_us, 3);
    EXPECT_EQ(ended.system_us, 4);
    EXPECT_EQ(ended.max_rss_bytes, 5U);
}

TEST(Messages, EncodeTheSameAgainAfterDecoding) {
    // Every field is in the bytes, so equal bytes mean equal fields.
    StartCommand start;
    MakeCell make;
    CellReady ready;
    Denied refused;
    Failure failure;
    ASSERT_TRUE(decode(encode(start_command()), start));
    ASSERT_TRUE(decode(encode(make_cell()), make));
    ASSERT_TRUE(decode(encode(cell_ready()), ready));
    ASSERT_TRUE(decode(encode(denied()), refused));
    ASSERT_TRUE(decode(encode(Failure{Stage::cwd, 2, "/x", "/y", 3}), failure));
    EXPECT_EQ(encode(start), encode(start_command()));
    EXPECT_EQ(encode(make), encode(make_cell()));
    EXPECT_EQ(encode(ready), encode(cell_ready()));
    EXPECT_EQ(encode(refused), encode(denied()));
    EXPECT_EQ(encode(failure), encode(Failure{Stage::cwd, 2, "/x", "/y", 3}));
}

TEST(Messages, AboutSocketsComeBackAsTheyWere) {
    FindSocketHolder wanted;
    ASSERT_TRUE(decode(encode(FindSocketHolder{7, 0x0100007f, 40000, 3128}), wanted));
    EXPECT_EQ(wanted.id, 7U);
    EXPECT_EQ(wanted.address, 0x0100007fU);
    EXPECT_EQ(wanted.port, 40000);
    EXPECT_EQ(wanted.peer_port, 3128);
    SocketHolder holder;
    ASSERT_TRUE(decode(encode(SocketHolder{8, 12, "curl"}), holder));
    EXPECT_EQ(holder.id, 8U);
    EXPECT_EQ(holder.pid, 12);
    EXPECT_EQ(holder.program, "curl");
}

TEST(Messages, AreTakenByTheirOwnDecoderOnly) {
    for (const std::string& packet : one_of_each()) EXPECT_EQ(all_takers(packet), 1);
    EXPECT_EQ(all_takers(encode_idle()), 0);
    EXPECT_EQ(type_of(encode_idle()), MessageType::idle);
}

TEST(Messages, CutAtEveryLengthAreRefused) {
    for (const std::string& packet : one_of_each())
        for (std::size_t size = 0; size < packet.size(); ++size)
            ASSERT_EQ(all_takers(std::string_view(packet).substr(0, size)), 0)
                << size << " of " << packet.size();
}

TEST(Messages, WithMoreThanFitsAreRefused) {
    for (const std::string& packet : one_of_each()) EXPECT_EQ(all_takers(packet + '\0'), 0);
}

TEST(Messages, WithAnyByteChangedDoNoHarm) {
    // Some are other messages of the same kind; none is read beyond its end, and no value is outside its
    // type.
    for (const std::string& packet : one_of_each())
        for (std::size_t at = 0; at < packet.size(); ++at)
            for (const char value : {'\0', '\1', '\2', '\x7f', '\xff'}) {
                std::string changed = packet;
                changed[at] = value;
                EXPECT_LE(all_takers(changed), 1);
            }
}

TEST(Messages, TypeOfSomethingElse) {
    EXPECT_EQ(type_of(""), MessageType{});
    EXPECT_EQ(type_of("abc"), MessageType{});
    EXPECT_EQ(type_of(encode(Signal{9})), MessageType::signal);
}

}  // namespace
}  // namespace sandpipe::wire
