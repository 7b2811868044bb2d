#pragma once

#include <sandpipe/awaitable.hpp>
#include <sandpipe/runtime.hpp>

namespace sandpipe {

/// Ties SIGINT and SIGTERM of the host to all running commands of `runtime`: the first signal stops them by their
/// stop policies, with cause `cancelled`, a later one kills them at once. New commands can still be started: it is
/// the host that ends the host. Runs until it is cancelled, so that it goes beside the real work:
///
///     co_await (serve(runtime) || stop_on_signals(runtime));
///
/// The handlers are Asio's (asio::signal_set) and are taken back when it ends. `runtime` must outlive it.
awaitable<void> stop_on_signals(Runtime& runtime);

}  // namespace sandpipe
