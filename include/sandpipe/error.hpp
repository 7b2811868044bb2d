#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace sandpipe {

/// What an `Error` is about. The names and numbers that cross process borders are `code_name` and
/// `code_number`; several values share a number, so the enumerators count from 1 for themselves.
enum class Errc : int {
    invalid_sandbox_config = 1,     ///< E_INVALID_SANDBOX_CONFIG 400: a value the caller gave is not acceptable
    sandbox_unsupported_env,        ///< E_SANDBOX_UNSUPPORTED_ENV 400: this machine cannot do what was asked
    sandbox_path_escape,            ///< E_SANDBOX_PATH_ESCAPE 400: a path leads out of its workspace
    sandbox_refused,                ///< E_SANDBOX_REFUSED 403: a gate did not approve
    sandbox_policy_conflict,        ///< E_SANDBOX_POLICY_CONFLICT 409: two settings exclude each other
    sandbox_narrowing_unsupported,  ///< E_SANDBOX_NARROWING_UNSUPPORTED 422: for enforcers that cannot narrow; the
                                    ///< library's own can
    sandbox_dependency_missing,     ///< E_SANDBOX_DEPENDENCY_MISSING 424: a needed program or library is absent
    sandbox_gate_required,          ///< E_SANDBOX_GATE_REQUIRED 428: a tool was made without a gate
    sandbox_not_initialized,        ///< E_SANDBOX_NOT_INITIALIZED 500: used after close, or in a forked child
    sandbox_failed,                 ///< E_SANDBOX_FAILED 500: the sandbox could not be made or kept
};

/// "E_INVALID_SANDBOX_CONFIG" and so on.
[[nodiscard]] std::string_view code_name(Errc code) noexcept;
/// The number that goes with the name, 400 to 500.
[[nodiscard]] int code_number(Errc code) noexcept;
[[nodiscard]] const std::error_category& sandpipe_category() noexcept;
[[nodiscard]] std::error_code make_error_code(Errc code) noexcept;

/// Thrown for wrong configuration (at construction) and wrong invocations (before anything starts).
/// A program that fails and a machine that refuses a start are not errors: they come as data, in the result.
class Error : public std::system_error {
  public:
    /// `text` names the offending value, the accepted ones and, where the machine is at fault, the remedy. It becomes
    /// one line: control characters and what is no UTF-8 are escaped (\xHH), and the middle of a long one is left out.
    Error(Errc code, const std::string& text);

    [[nodiscard]] Errc errc() const noexcept { return static_cast<Errc>(code().value()); }
    [[nodiscard]] std::string_view name() const noexcept { return code_name(errc()); }
    [[nodiscard]] int number() const noexcept { return code_number(errc()); }
    /// The text alone, without the code's name.
    [[nodiscard]] const std::string& text() const noexcept { return *text_; }
    /// "E_...: text"
    [[nodiscard]] const char* what() const noexcept override { return what_->c_str(); }

  private:
    // Shared, because copying an exception must not throw.
    std::shared_ptr<const std::string> text_;
    std::shared_ptr<const std::string> what_;
};

}  // namespace sandpipe

template <>
struct std::is_error_code_enum<sandpipe::Errc> : std::true_type {};
