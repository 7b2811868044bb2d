#pragma once

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace sandpipe::testing {

/// A directory of its own for one test. It goes with all that is in it, whatever the modes of that, and however the test
/// ends.
class TempTree {
  public:
    TempTree() {
        std::string name = (std::filesystem::temp_directory_path() / "sandpipe-unit-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
        path_ = std::filesystem::canonical(name);
    }
    TempTree(const TempTree&) = delete;
    TempTree& operator=(const TempTree&) = delete;
    ~TempTree() { remove(path_); }

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    /// Removes any tree, whatever its modes are and however deep it is.
    static void remove(const std::filesystem::path& path) noexcept {
        std::error_code error;
        std::filesystem::remove_all(path, error);
        if (!error) return;
        open_all(path);
        std::filesystem::remove_all(path, error);
    }

  private:
    static void open_all(const std::filesystem::path& directory) {
        std::error_code error;
        std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
        std::vector<std::filesystem::path> inner;
        for (const auto& entry : std::filesystem::directory_iterator(directory, error))
            if (entry.is_directory(error) && !entry.is_symlink(error)) inner.push_back(entry.path());
        for (const auto& path : inner) open_all(path);
    }

    std::filesystem::path path_;
};

}  // namespace sandpipe::testing
