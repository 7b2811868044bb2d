#pragma once

#include <string>

namespace sandpipe::tool {

/// Removes what stands as `name` in the directory `parent`, and all below it. Follows no symbolic link, needs
/// no more than three descriptors and no stack however deep the tree is, and opens directories that their
/// modes have closed. 0 or -errno of the first thing that cannot be removed; what is not there is no error.
[[nodiscard]] int remove_tree(int parent, const std::string& name);

}  // namespace sandpipe::tool
