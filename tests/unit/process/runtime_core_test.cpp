#include "process/runtime_core.hpp"

#include <gtest/gtest.h>

#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

namespace sandpipe::detail {
namespace {

/// Ends at once, and goes when the last one lets go of it.
class ShortCommand final : public RuntimeMember {
  public:
    explicit ShortCommand(std::shared_ptr<RuntimeCore> core) : core_(std::move(core)), id_(core_->next_id()) {}
    ShortCommand(const ShortCommand&) = delete;
    ShortCommand& operator=(const ShortCommand&) = delete;
    ~ShortCommand() override { core_->forget(id_); }

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] bool is_command() const noexcept override { return true; }
    [[nodiscard]] const Session* session() const noexcept override { return nullptr; }
    void request_end() override { core_->leave(id_); }
    void release_io() noexcept override {}

  private:
    const std::shared_ptr<RuntimeCore> core_;
    const std::uint64_t id_;
};

TEST(RuntimeCore, WhoLooksForMembersMayBeTheLastThatHoldsOne) {
    constexpr int kCommands = 100'000;
    asio::io_context context;
    const auto core = std::make_shared<RuntimeCore>(context.get_executor(), RuntimeOptions{});
    std::atomic<bool> over{false};
    std::thread looking([&] {
        while (!over) core->stop_commands();
    });
    for (int i = 0; i < kCommands; ++i) {
        const auto command = std::make_shared<ShortCommand>(core);
        core->join(command->id(), command);
        if (i % 2 == 0) core->leave(command->id());
    }
    over = true;
    looking.join();
    int left = 0;
    bool told = false;
    const auto done =
        asio::bind_executor(context.get_executor(), [&told](const std::exception_ptr&, bool) { told = true; });
    core->end_members([&left](const RuntimeMember&) { return ++left > 0; }, Completion<bool>(done, {}));
    context.run();
    EXPECT_TRUE(told);
    EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace sandpipe::detail
