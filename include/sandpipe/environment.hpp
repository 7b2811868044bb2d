#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sandpipe {

/// What a command's environment is made of: a base taken from the Runtime's snapshot (read once, when the
/// Runtime was made; a later setenv is not seen), and then changes in the order they were asked for.
/// Names that are empty or contain '=' or NUL, and values with NUL, are refused before anything starts.
class Environment {
  public:
    /// Only these variables, as far as the snapshot has them.
    [[nodiscard]] static Environment names(std::vector<std::string> names);
    /// All of the snapshot.
    [[nodiscard]] static Environment inherit_all();
    /// Nothing.
    [[nodiscard]] static Environment empty();
    /// names() with PATH HOME USER LANG LC_ALL TZ TMPDIR: what plain commands get unless told otherwise.
    [[nodiscard]] static Environment standard();

    Environment& set(std::string name, std::string value) &;
    Environment&& set(std::string name, std::string value) &&;
    Environment& unset(std::string name) &;
    Environment&& unset(std::string name) &&;

    /// The block for execve, "NAME=VALUE" each, for a snapshot in the same form. Throws
    /// `Error` E_INVALID_SANDBOX_CONFIG naming the first bad name or value.
    [[nodiscard]] std::vector<std::string> resolve(const std::vector<std::string>& snapshot) const;
    /// The same on top of a block that is there already, such as a session's own.
    [[nodiscard]] std::vector<std::string> lay_over(std::vector<std::string> block,
                                                    const std::vector<std::string>& snapshot) const;

  private:
    enum class Base : std::uint8_t { names, all, none };
    struct Change {
        std::string name;
        std::string value;
        bool unset = false;
    };

    Base base_ = Base::none;
    std::vector<std::string> names_;
    std::vector<Change> changes_;
};

}  // namespace sandpipe
