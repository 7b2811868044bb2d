// Changes its environment and takes memory in threads while commands start.
#include <atomic>
#include <memory>
#include <thread>

#include "host.hpp"

using namespace sandpipe;

int main() {
    Host host;
    std::atomic<bool> end{false};
    std::thread changer([&] {
        for (int i = 0; !end; ++i) ::setenv(("NAME_" + std::to_string(i % 50)).c_str(), "value", 1);
    });
    std::thread allocator([&] {
        while (!end) std::make_unique<std::string>(1000, 'x');
    });
    bool good = true;
    for (int i = 0; i < 200; ++i)
        good = good && host.exec(command("true").env(Environment::inherit_all())).exit_code == 0;
    end = true;
    changer.join();
    allocator.join();
    check(good, "every command ran");
}
