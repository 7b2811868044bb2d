#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sandpipe::wire {

/// Writes numbers in host order and strings as length, bytes, NUL: both ends are one machine and one build,
/// and the NUL lets the receiver point execve straight into the packet.
class Encoder {
  public:
    template <typename T>
    Encoder& number(T value) {
        static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Encoder& text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        bytes_.append(value).push_back('\0');
        return *this;
    }
    Encoder& texts(const std::vector<std::string>& values) {
        number(static_cast<std::uint32_t>(values.size()));
        for (const std::string& value : values) text(value);
        return *this;
    }
    template <typename T, typename Write>
    Encoder& list(const std::vector<T>& values, Write write) {
        number(static_cast<std::uint32_t>(values.size()));
        for (const T& value : values) write(*this, value);
        return *this;
    }

    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::string take() noexcept { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// Reads what an Encoder wrote. After the first thing that does not fit every read gives nothing and `ok` is
/// false: callers check once, at the end.
class Decoder {
  public:
    explicit Decoder(std::string_view bytes) noexcept : bytes_(bytes) {}

    template <typename T>
    Decoder& number(T& value) noexcept {
        static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
        value = T{};
        if constexpr (std::is_same_v<T, bool>) {
            // Any other bit pattern than 0 and 1 would be undefined behaviour in a bool.
            std::uint8_t byte = 0;
            number(byte);
            ok_ = ok_ && byte <= 1;
            value = ok_ && byte == 1;
            return *this;
        }
        if (!has(sizeof value)) return *this;
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_.remove_prefix(sizeof value);
        return *this;
    }
    /// A view into the packet, followed there by a NUL.
    Decoder& view(std::string_view& value) noexcept {
        std::uint32_t size = 0;
        number(size);
        value = {};
        if (!has(std::size_t{size} + 1) || bytes_[size] != '\0') {
            ok_ = false;
            return *this;
        }
        value = bytes_.substr(0, size);
        bytes_.remove_prefix(std::size_t{size} + 1);
        return *this;
    }
    Decoder& text(std::string& value) {
        std::string_view seen;
        view(seen);
        value.assign(seen);
        return *this;
    }
    Decoder& texts(std::vector<std::string>& values) {
        return list(values, [](Decoder& in, std::string& value) { in.text(value); });
    }
    template <typename T, typename Read>
    Decoder& list(std::vector<T>& values, Read read) {
        std::uint32_t count = 0;
        number(count);
        values.clear();
        for (std::uint32_t i = 0; i < count && ok_; ++i) read(*this, values.emplace_back());
        return *this;
    }

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    /// Nothing went wrong and nothing is left over.
    [[nodiscard]] bool complete() const noexcept { return ok_ && bytes_.empty(); }

  private:
    bool has(std::size_t size) noexcept { return ok_ = ok_ && bytes_.size() >= size; }

    std::string_view bytes_;
    bool ok_ = true;
};

}  // namespace sandpipe::wire
