#pragma once

#include <sandpipe/sandpipe.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <stdlib.h>

#include <exception>
#include <filesystem>
#include <functional>

/// Runs what an example shows in a new directory, which is removed afterwards. What `main` returns: 0 if it was as shown.
inline int run_in_workspace(
    const std::function<sandpipe::awaitable<bool>(sandpipe::Runtime&, std::filesystem::path)>& show) {
    char name[] = "/tmp/sandpipe-example-XXXXXX";
    if (!::mkdtemp(name)) return 1;
    asio::io_context context;
    sandpipe::Runtime runtime{context.get_executor()};
    bool as_shown = false;
    asio::co_spawn(context, show(runtime, name), [&](std::exception_ptr error, bool result) {
        if (error) std::rethrow_exception(error);
        as_shown = result;
    });
    context.run();
    std::filesystem::remove_all(name);
    return as_shown ? 0 : 1;
}
