#include "wire/packet_socket.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "sys/descriptors.hpp"
#include "wire/messages.hpp"

namespace sandpipe::wire {
namespace {

class PacketSocket : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(sys::make_socket_pair(pair_), 0); }
    int send(std::string_view bytes, std::vector<int> fds = {}) {
        return send_packet(pair_.first.get(), bytes, fds);
    }
    int receive() { return receive_packet(pair_.second.get(), packet_); }

    sys::SocketPair pair_;
    Packet packet_;
};

TEST_F(PacketSocket, PacketsStayApart) {
    ASSERT_EQ(send("one"), 0);
    ASSERT_EQ(send("second"), 0);
    ASSERT_EQ(receive(), 1);
    EXPECT_EQ(packet_.bytes, "one");
    ASSERT_EQ(receive(), 1);
    EXPECT_EQ(packet_.bytes, "second");
    EXPECT_EQ(receive(), -EAGAIN);
    pair_.first.reset();
    EXPECT_EQ(receive(), 0);
}

TEST_F(PacketSocket, TheLastWordOfAPeerThatLeftSomethingUnreadArrives) {
    ASSERT_EQ(send("last"), 0);
    ASSERT_EQ(send_packet(pair_.second.get(), "never read"), 0);
    pair_.first.reset();
    ASSERT_EQ(receive(), 1);
    EXPECT_EQ(packet_.bytes, "last");
    EXPECT_EQ(receive(), 0);
}

TEST_F(PacketSocket, DescriptorsComeInOrderAndCloexec) {
    sys::Pipe pipe;
    ASSERT_EQ(sys::make_pipe(pipe), 0);
    ASSERT_EQ(send("x", {pipe.read_end.get(), pipe.write_end.get()}), 0);
    ASSERT_EQ(receive(), 1);
    ASSERT_EQ(packet_.fds.size(), 2U);
    EXPECT_EQ(::write(packet_.fds[1].get(), "y", 1), 1);
    char byte = 0;
    EXPECT_EQ(::read(packet_.fds[0].get(), &byte, 1), 1);
    for (const unique_fd& fd : packet_.fds) {
        EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
        EXPECT_GE(fd.get(), 3);
    }
}

TEST_F(PacketSocket, LargeBodiesArriveWhole) {
    for (const std::size_t size : {kMaxInlineBytes, kMaxInlineBytes + 1, std::size_t{3'000'000}}) {
        std::string body(size, '\0');
        for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i % 251);
        ASSERT_EQ(send(body, {pair_.first.get()}), 0);
        ASSERT_EQ(receive(), 1);
        EXPECT_TRUE(packet_.bytes == body);
        EXPECT_EQ(packet_.fds.size(), 1U) << "the body's own is not the receiver's affair";
    }
}

TEST_F(PacketSocket, TooManyDescriptorsAreRefused) {
    const std::vector<int> many(kMaxPacketFds, pair_.first.get());
    EXPECT_EQ(send("x", many), -EINVAL);
}

TEST_F(PacketSocket, PacketsThatAreTooLongAreAnError) {
    const std::string big(kMaxPacketBytes + 1, 'x');
    ASSERT_EQ(::send(pair_.first.get(), big.data(), big.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(big.size()));
    EXPECT_EQ(receive(), -EPROTO);
}

TEST_F(PacketSocket, ABodyThatIsNoFileIsAnError) {
    sys::Pipe pipe;
    ASSERT_EQ(sys::make_pipe(pipe), 0);
    const std::string stub = Encoder().number(std::uint32_t{0x64657461}).take();
    ASSERT_EQ(send(stub), 0);
    EXPECT_EQ(receive(), -EPROTO) << "without any";
    ASSERT_EQ(send(stub, {pipe.read_end.get()}), 0);
    EXPECT_EQ(receive(), -EPROTO) << "a pipe would block";
}

TEST_F(PacketSocket, ABodyThatIsTooLargeIsToldApartByBothEnds) {
    EXPECT_EQ(send(std::string(kMaxBodyBytes + 1, 'x'), {pair_.first.get()}), -E2BIG);
    EXPECT_EQ(receive(), -EAGAIN) << "nothing of it was sent";
    const unique_fd large(::memfd_create("large", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(large.get(), kMaxBodyBytes + 1), 0);
    const std::string stub = Encoder().number(std::uint32_t{0x64657461}).take();
    ASSERT_EQ(send(stub, {pair_.first.get(), large.get()}), 0);
    EXPECT_EQ(receive(), -E2BIG);
    EXPECT_EQ(packet_.fds.size(), 1U) << "where the answer goes";
}

TEST_F(PacketSocket, APeerThatIsGoneIsAnErrorAndNoSignal) {
    pair_.second.reset();
    EXPECT_EQ(send("x"), -EPIPE);
}

TEST_F(PacketSocket, APeerThatDoesNotReadIsToldApart) {
    int error = 0;
    for (int i = 0; i < 100'000 && error == 0; ++i) error = send(std::string(1000, 'x'));
    EXPECT_EQ(error, -EAGAIN);
}

}  // namespace
}  // namespace sandpipe::wire
