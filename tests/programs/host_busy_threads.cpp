// Takes memory, sets signal handlers and changes its environment in four threads while commands start. An argument:
// how many.
#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "host.hpp"

using namespace sandpipe;

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 200;
    Host host;
    std::atomic<bool> end{false};
    const auto set_handlers = [](int i) { ::signal(SIGUSR1, i % 2 ? SIG_IGN : SIG_DFL); };
    const auto take_memory = [](int i) { std::make_unique<std::string>(static_cast<std::size_t>(i % 100'000), 'x'); };
    const auto set_variables = [](int i) { ::setenv(("NAME_" + std::to_string(i % 50)).c_str(), "value", 1); };
    const std::vector<std::function<void(int)>> habits{set_handlers, take_memory, set_variables, take_memory};
    std::vector<std::thread> threads;
    for (const auto& habit : habits)
        threads.emplace_back([&end, habit] {
            for (int i = 0; !end; ++i) habit(i);
        });
    int good = 0;
    for (int i = 0; i < count; ++i) {
        const BinaryExecResult result = host.exec(command("/bin/echo").args("out").env(Environment::inherit_all()));
        good += result.exit_code == 0 && result.out == "out";
    }
    end = true;
    for (std::thread& thread : threads) thread.join();
    check(good == count, "every command ran");
}
