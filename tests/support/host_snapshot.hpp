#pragma once

#include <map>
#include <string>
#include <vector>

namespace sandpipe::testing {

/// What a tree of the host holds: for each path below `root` its type, mode, links, owner and content. Throws where it
/// cannot be listed.
class HostSnapshot {
  public:
    HostSnapshot() = default;
    explicit HostSnapshot(std::string root);

    /// "+ name", "- name" and "~ name" for what came, went and changed since, in the order of the names.
    [[nodiscard]] std::vector<std::string> changes_to(const HostSnapshot& later) const;

  private:
    std::map<std::string, std::string> entries_;
};

/// Removes a tree whatever its modes are.
void remove_tree(const std::string& root);

/// The whole of a file, or "" if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace sandpipe::testing
