#include <sandpipe/error.hpp>
#include <sandpipe/runtime.hpp>

#include <asio/execution/context.hpp>
#include <asio/execution_context.hpp>
#include <asio/query.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "process/helper_end.hpp"
#include "process/runtime_core.hpp"
#include "process/shielded.hpp"

// For awaitable.hpp: what the library was built with.
extern "C" const char SANDPIPE_BUILT_WITH_ASIO(ASIO_VERSION) = 0;

namespace sandpipe {
namespace {

/// Tells the Runtimes of a context that it is being destroyed, while their I/O objects can still be.
class RuntimeService : public asio::execution_context::service {
  public:
    using key_type = RuntimeService;
    static inline asio::execution_context::id id;

    explicit RuntimeService(asio::execution_context& context) : asio::execution_context::service(context) {}

    void add(const std::shared_ptr<detail::RuntimeCore>& core) {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::erase_if(cores_, [](const std::weak_ptr<detail::RuntimeCore>& entry) { return entry.expired(); });
        cores_.insert(core);
    }

  private:
    void shutdown() override {
        for (const std::weak_ptr<detail::RuntimeCore>& entry : cores_)
            if (const std::shared_ptr<detail::RuntimeCore> core = entry.lock()) core->release_io();
    }

    std::mutex mutex_;
    std::set<std::weak_ptr<detail::RuntimeCore>, std::owner_less<>> cores_;
};

}  // namespace

Runtime::Runtime(asio::any_io_executor executor, RuntimeOptions options) {
    constexpr unsigned kMostLaunchers = 64;
    if (options.launchers < 1 || options.launchers > kMostLaunchers)
        throw Error(Errc::invalid_sandbox_config,
                    "RuntimeOptions::launchers is " + std::to_string(options.launchers) +
                        "; it must be from 1 to " + std::to_string(kMostLaunchers));
    if (!executor) throw Error(Errc::invalid_sandbox_config, "Runtime: the executor is empty");
    core_ = std::make_shared<detail::RuntimeCore>(executor, std::move(options));
    asio::use_service<RuntimeService>(asio::query(executor, asio::execution::context)).add(core_);
}

Runtime::~Runtime() { const detail::EndingHelpers ending(core_->cut_off()); }

namespace {

awaitable<bool> end_members(std::shared_ptr<detail::RuntimeCore> core, bool commands) {
    std::function<void(detail::Completion<bool>)> start = [core, commands](detail::Completion<bool> done) {
        core->end_members(
            [=](const detail::RuntimeMember& member) { return member.is_command() == commands; },
            std::move(done));
    };
    return detail::await_completion<bool>(std::move(start));
}

awaitable<void> close_all(std::shared_ptr<detail::RuntimeCore> core) {
    core->refuse_starts();
    co_await end_members(core, true);
    co_await end_members(core, false);
    detail::EndingHelpers helpers(core->cut_off());
    co_await helpers.ended();
}

}  // namespace

awaitable<void> Runtime::close() { return detail::shielded(close_all(core_)); }

}  // namespace sandpipe
