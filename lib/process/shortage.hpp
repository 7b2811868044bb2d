#pragma once

#include <sandpipe/error.hpp>

#include <string>

namespace sandpipe::detail {

/// Processes, descriptors or memory are short: nothing is wrong with the machine, and another try may succeed.
class Shortage : public Error {
  public:
    Shortage(int error, const std::string& text) : Error(Errc::sandbox_failed, text), error_(error) {}
    /// The errno.
    [[nodiscard]] int error() const noexcept { return error_; }

  private:
    int error_;
};

}  // namespace sandpipe::detail
