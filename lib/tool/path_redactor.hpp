#pragma once

#include <sandpipe/output_event.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sandpipe::tool {

/// Takes the host's own places out of what sandpipe writes for a model: the workspace becomes ".", a home
/// "~". Pure.
class PathRedactor {
  public:
    /// `workspace`: absolute and resolved.
    explicit PathRedactor(std::string workspace);

    /// `place` is absolute; it is shown as `shown`. Empty ones and "/" are passed over: they would be
    /// everything.
    void hide(std::string_view place, std::string shown);

    /// A whole path, by the longest place that holds it.
    [[nodiscard]] std::string path(std::string_view path) const;
    /// Every path within a text of ours.
    [[nodiscard]] std::string text(std::string_view text) const;
    /// What an event says in our own words and paths; output stays as it is. Why the machine could not set up
    /// a sandbox is for the host's log, not for the model: of such a start only stage and error are left.
    [[nodiscard]] OutputEvent event(const OutputEvent& event) const;

  private:
    struct Hidden {
        std::string place;
        std::string shown;
    };
    template <typename Holds>
    [[nodiscard]] const Hidden* longest(Holds holds_it) const;
    [[nodiscard]] std::string resolved(const std::string& asked, std::string_view place) const;
    [[nodiscard]] Denial denial(Denial denial) const;
    [[nodiscard]] CommandResult result(CommandResult result) const;

    std::string workspace_;
    std::vector<Hidden> hidden_;
};

}  // namespace sandpipe::tool
