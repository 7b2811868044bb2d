#include "support/host_snapshot.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "support/temp_tree.hpp"

namespace fs = std::filesystem;

namespace sandpipe::testing {
namespace {

std::string describe(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) < 0) return "gone";
    std::ostringstream text;
    text << std::oct << status.st_mode << std::dec << " links "
         << (S_ISDIR(status.st_mode) ? 0 : status.st_nlink) << " of " << status.st_uid << ':' << status.st_gid;
    if (S_ISLNK(status.st_mode)) text << " to " << fs::read_symlink(path).string();
    if (S_ISREG(status.st_mode)) text << " hash " << std::hash<std::string>{}(read_file(path));
    return text.str();
}

}  // namespace

HostSnapshot::HostSnapshot(std::string root) {
    std::error_code error;
    fs::recursive_directory_iterator next(root, fs::directory_options::skip_permission_denied, error);
    for (; !error && next != fs::recursive_directory_iterator{}; next.increment(error))
        entries_[next->path().string().substr(root.size() + 1)] = describe(next->path());
    if (error) throw std::runtime_error("cannot look at all of " + root + ": " + error.message());
}

std::vector<std::string> HostSnapshot::changes_to(const HostSnapshot& later) const {
    std::vector<std::string> changes;
    auto names = entries_;
    names.insert(later.entries_.begin(), later.entries_.end());
    for (const auto& [name, ignored] : names) {
        const auto before = entries_.find(name);
        const auto after = later.entries_.find(name);
        if (before == entries_.end())
            changes.push_back("+ " + name);
        else if (after == later.entries_.end())
            changes.push_back("- " + name);
        else if (before->second != after->second)
            changes.push_back("~ " + name);
    }
    return changes;
}

void remove_tree(const std::string& root) { TempTree::remove(root); }

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return file ? text.str() : std::string();
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace sandpipe::testing
