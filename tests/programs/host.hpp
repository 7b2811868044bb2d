#pragma once

#include <sandpipe/local_executor.hpp>
#include <sandpipe/runtime.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <cstdio>
#include <exception>
#include <utility>

#include "check.hpp"

/// What the small hosts of these tests share: a context, a Runtime, and a way to run one command.
struct Host {
    asio::io_context io;
    sandpipe::Runtime runtime{io.get_executor()};

    sandpipe::BinaryExecResult exec(sandpipe::BinaryInvocation invocation) {
        sandpipe::BinaryExecResult result;
        asio::co_spawn(io, sandpipe::local_executor(runtime)->exec(std::move(invocation)),
                       [&](std::exception_ptr error, sandpipe::BinaryExecResult value) {
                           if (error) std::rethrow_exception(error);
                           result = std::move(value);
                       });
        io.restart();
        io.run();
        return result;
    }
};
