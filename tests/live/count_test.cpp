#include <asio/co_spawn.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>

#include <algorithm>

#include "support/process_fixture.hpp"

namespace sandpipe::testing {
namespace {

using Executor = std::shared_ptr<BinaryExecutor>;

/// What goes wrong once in thousands of runs. SANDPIPE_ROUNDS=10 makes the counts those of the reports.
class Count : public ProcessFixture {
  protected:
    /// Runs `work` in each of eight strands on eight threads; the failures of all together.
    template <typename Work>
    int eight_at_a_time(Work work) {
        asio::thread_pool pool(8);
        Runtime owner(pool.get_executor());
        const Executor shared = local_executor(owner);
        std::vector<std::future<int>> results;
        for (int i = 0; i < 8; ++i)
            results.push_back(asio::co_spawn(asio::make_strand(pool), work(shared), asio::use_future));
        int failures = 0;
        for (auto& result : results) failures += result.get();
        asio::co_spawn(pool, owner.close(), asio::use_future).get();
        pool.join();
        return failures;
    }
};

awaitable<int> wrong_echoes(Executor executor) {
    int failures = 0;
    const int count = (rounds(500) + 7) / 8;
    for (int i = 0; i < count; ++i) {
        const BinaryExecResult result = co_await executor->exec(command("echo").args("test"));
        failures += result.out != "test" || result.exit_code != 0;
    }
    co_return failures;
}

TEST_F(Count, AnEchoIsNeverEmpty) { EXPECT_EQ(eight_at_a_time(wrong_echoes), 0); }

std::string a_megabyte() {
    std::string data(1 << 20, '\0');
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 % 251);
    return data;
}

awaitable<int> wrong_cats(Executor executor) {
    const std::string data = a_megabyte();
    int failures = 0;
    const int count = std::min(rounds(20), 200);
    for (int i = 0; i < count; ++i) {
        const BinaryExecResult result = co_await executor->exec(command("cat").input(Input::bytes(data)));
        failures += result.out != data || result.exit_code != 0;
    }
    co_return failures;
}

TEST_F(Count, AMegabyteThroughCatIsWhole) { EXPECT_EQ(eight_at_a_time(wrong_cats), 0); }

TEST_F(Count, MergedLinesAreInOrder) {
    const BinaryInvocation alternating =
        sh("i=0; while [ $i -lt 100 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done").order(Order::merged);
    std::string expected;
    for (int i = 0; i < 100; ++i) expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
    for (int run = 0; run < rounds(20); ++run) ASSERT_EQ(exec(alternating).out + "\n", expected) << run;
}

}  // namespace
}  // namespace sandpipe::testing
