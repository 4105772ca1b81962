/// Takes values off a fuzzer's bytes. When they are used up, everything is 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "fuzz/harness.hpp"

namespace quarry::fuzz {

class Input {
 public:
  explicit Input(Bytes bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  std::uint8_t byte() { return raw<std::uint8_t>(); }
  bool coin() { return (byte() & 1) != 0; }

  /// Any bytes as a value of a type for which all of them are one.
  template <class T>
  T raw() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value = {};
    const Bytes bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  /// A value of an enumeration: a legal one, mostly; otherwise any byte. @pre its underlying type is a byte,
  /// so that every byte is a value
  template <class E>
  E word() {
    static_assert(sizeof(E) == 1);
    return static_cast<E>(byte());
  }

  /// A whole number: small mostly, else one near a power of two or a limit, or any.
  std::int64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 160) return kind;
    if (kind < 224) return (std::int64_t{1} << (kind - 160) % 63) + (byte() % 3 - 1);
    switch (kind) {
      case 224: return std::numeric_limits<std::int64_t>::max();
      case 225: return std::numeric_limits<std::int64_t>::min();
      case 226: return -1;
      case 227: return std::numeric_limits<std::int32_t>::max();
      case 228: return std::numeric_limits<std::int32_t>::min();
      default: return kind < 240 ? -std::int64_t{byte()} : raw<std::int64_t>();
    }
  }

  /// At most so many bytes, fewer at the end.
  Bytes take(std::size_t most) {
    const Bytes taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  /// All that is left.
  Bytes rest() { return take(left_.size()); }

 private:
  Bytes left_;
};

}  // namespace quarry::fuzz
