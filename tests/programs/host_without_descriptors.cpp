// May open nothing at all: that is an Error when its Runtime is made, and nothing later.
#include <sandpipe/error.hpp>
#include <sandpipe/runtime.hpp>

#include <sys/resource.h>

#include <asio/io_context.hpp>

#include "check.hpp"

using namespace sandpipe;

int main() {
    asio::io_context context;
    const rlimit none{};
    ::setrlimit(RLIMIT_NOFILE, &none);
    try {
        const Runtime runtime(context.get_executor());
    } catch (const Error& error) {
        check(error.errc() == Errc::sandbox_failed, "a failure, and no mistake of the caller's");
        return 0;
    }
    check(false, "it throws");
}
