/// Numbers and texts as bytes, and back: what the formats of artifacts and packs are written with.
/// Little-endian; a text is 4 bytes of length, then its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace quarry::detail {

/// Appends numbers and texts.
class ByteWriter {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_unsigned_v<Number>);
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
  void raw(const void* data, std::size_t size) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    raw(text.data(), text.size());
  }
  /// Puts a number over what was written at an offset.
  void patch(std::size_t offset, std::uint64_t value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes_[offset + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes them off again; after the first that is not there, everything is empty.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class Number>
  Number number() {
    Number value = 0;
    const auto bytes = take(sizeof value);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value = static_cast<Number>(value | static_cast<Number>(bytes[i]) << (8 * i));
    return value;
  }
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > left_.size()) failed_ = true;
    if (failed_) return {};
    const auto taken = left_.first(static_cast<std::size_t>(size));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::string text() {
    const auto bytes = take(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool failed() const { return failed_; }
  /// What was not taken yet.
  std::span<const std::byte> left() const { return left_; }
  bool complete() const { return !failed_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool failed_ = false;
};

}  // namespace quarry::detail
