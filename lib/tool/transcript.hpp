#pragma once

#include <sandpipe/text_renderer.hpp>
#include <sandpipe/tool/run_shell_command_tool.hpp>

#include <cstddef>
#include <string>

#include "bounded_text.hpp"

namespace sandpipe::tool {

/// Collects a command's events into the result for a model. Pure; one per command.
class Transcript {
  public:
    Transcript(std::string marker, std::size_t text_limit);

    void take(const OutputEvent& event);
    /// After `Finished`. Without one the result says that the command was lost.
    [[nodiscard]] ToolResult result() const;

  private:
    TextRenderer renderer_;
    BoundedText text_;
    CommandResult end_;
};

/// The result of a call that ran nothing. `code`: an E_ name. `reason`: for the model.
[[nodiscard]] ToolResult nothing_ran(std::string_view code, const std::string& reason);

}  // namespace sandpipe::tool
