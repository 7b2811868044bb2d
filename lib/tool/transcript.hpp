#pragma once

#include <sandpipe/text_renderer.hpp>
#include <sandpipe/tool/tool_result.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bounded_text.hpp"
#include "path_redactor.hpp"
#include "summary.hpp"

namespace sandpipe::tool {

/// Collects a command's events into the result for a model. Pure; one per command.
class Transcript {
  public:
    Transcript(CallFacts call, std::string marker, std::size_t text_limit,
               std::shared_ptr<const PathRedactor> redactor, std::shared_ptr<SpooledArtifact> artifact);

    /// What the event adds to the artifact, for the caller to append there.
    [[nodiscard]] std::string take(const OutputEvent& event);
    /// After `Finished`, and all of the artifact. Without one the result says that the command was lost.
    [[nodiscard]] ToolResult result() const;

    [[nodiscard]] const std::shared_ptr<SpooledArtifact>& artifact() const noexcept { return artifact_; }

  private:
    std::string note(const OutputEvent& event);
    [[nodiscard]] std::string shown_text() const;

    CallFacts call_;
    std::string marker_;
    TextRenderer renderer_;
    BoundedText text_;
    std::shared_ptr<const PathRedactor> redactor_;
    std::shared_ptr<SpooledArtifact> artifact_;
    // The lines of denials, each once, in case that they are left out of the text. A command has 1001 at most.
    std::vector<std::string> denied_;
    std::unordered_set<std::string> known_;
    CommandResult end_;
};

/// The result of a call that was refused before a command was begun. `code`: an E_ name. `reason`: for the
/// model. `gate`: what it answered, "" if it was not asked.
[[nodiscard]] ToolResult nothing_ran(const CallFacts& call, std::string_view code, const std::string& reason,
                                     std::string_view gate);

}  // namespace sandpipe::tool
