#pragma once

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace sandpipe::testing {

/// From here on, for Runtimes that are made while it lives, as on a machine without these features.
class Without {
  public:
    explicit Without(const std::string& features) { ::setenv("SANDPIPE_TEST_WITHOUT", features.c_str(), 1); }
    Without(const Without&) = delete;
    Without& operator=(const Without&) = delete;
    ~Without() { ::unsetenv("SANDPIPE_TEST_WITHOUT"); }
};

/// What `sandpipe run --json` said.
struct CommandLineRun {
    int status = -1;
    std::string text;  ///< all of it
    std::vector<nlohmann::json> lines;

    [[nodiscard]] nlohmann::json line(const std::string& event) const;
    /// Of the start line: "full", "partial", "none", or "missing".
    [[nodiscard]] std::string enforced(const std::string& mechanism) const;
    [[nodiscard]] std::string detail(const std::string& mechanism) const;
    /// The texts of all warnings, each on a line.
    [[nodiscard]] std::string warnings() const;
    [[nodiscard]] std::string output() const;
    /// error and hint of a start that failed.
    [[nodiscard]] std::string failure() const;
};

/// sandpipe run --json OPTIONS -c LINE, in `workspace`, below attack_without WHAT, and with `environment` ("A=b").
[[nodiscard]] CommandLineRun run_without(const std::string& what, const std::string& workspace,
                                         const std::string& options, const std::string& line,
                                         const std::string& environment = {});

}  // namespace sandpipe::testing
