#pragma once

namespace sandpipe::bench {

/// vfork, exec and wait: the least that starting `program` can cost. Throws std::system_error.
void raw_spawn(const char* program);

}  // namespace sandpipe::bench
