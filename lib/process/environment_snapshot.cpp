#include "environment_snapshot.hpp"

#include <unistd.h>

namespace sandpipe::detail {

std::vector<std::string> snapshot_of_environment() {
    std::vector<std::string> entries;
    for (char** entry = environ; entry && *entry; ++entry) entries.emplace_back(*entry);
    return entries;
}

}  // namespace sandpipe::detail
