#include <sandpipe/error.hpp>

#include <array>
#include <cstddef>

#include "escaped.hpp"

namespace sandpipe {
namespace {

struct CodeRow {
    std::string_view name;
    int number;
};

constexpr std::array kCodes{
    CodeRow{"E_INVALID_SANDBOX_CONFIG", 400},     CodeRow{"E_SANDBOX_UNSUPPORTED_ENV", 400},
    CodeRow{"E_SANDBOX_PATH_ESCAPE", 400},        CodeRow{"E_SANDBOX_REFUSED", 403},
    CodeRow{"E_SANDBOX_POLICY_CONFLICT", 409},    CodeRow{"E_SANDBOX_NARROWING_UNSUPPORTED", 422},
    CodeRow{"E_SANDBOX_DEPENDENCY_MISSING", 424}, CodeRow{"E_SANDBOX_GATE_REQUIRED", 428},
    CodeRow{"E_SANDBOX_NOT_INITIALIZED", 500},    CodeRow{"E_SANDBOX_FAILED", 500},
};
static_assert(kCodes.size() == static_cast<std::size_t>(Errc::sandbox_failed),
              "a row for each code, in order");

class Category final : public std::error_category {
  public:
    [[nodiscard]] const char* name() const noexcept override { return "sandpipe"; }
    [[nodiscard]] std::string message(int value) const override {
        return std::string(code_name(static_cast<Errc>(value)));
    }
};

}  // namespace

std::string_view code_name(Errc code) noexcept {
    const auto index = static_cast<std::size_t>(code) - 1;
    return index < kCodes.size() ? kCodes[index].name : "E_UNKNOWN";
}

int code_number(Errc code) noexcept {
    const auto index = static_cast<std::size_t>(code) - 1;
    return index < kCodes.size() ? kCodes[index].number : 500;
}

const std::error_category& sandpipe_category() noexcept {
    static const Category category;
    return category;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), sandpipe_category()}; }

Error::Error(Errc code, const std::string& text)
    : std::system_error(make_error_code(code)),
      text_(std::make_shared<const std::string>(detail::one_line(text))),
      what_(std::make_shared<const std::string>(std::string(code_name(code)) + ": " + *text_)) {}

}  // namespace sandpipe
