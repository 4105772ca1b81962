/// What kernels multiply of f32 operands: the host's part of `math`.
#pragma once

#include <span>

#include "basic/numbers.hpp"
#include "quarry/types.hpp"

namespace quarry::host {

/// What a kernel multiplies of an operand's value.
enum class Share : unsigned char { all, tf32, tf32_rest, f16, bf16 };

/// The shares of A and B whose products a kernel adds up.
struct Shares {
  Share a;
  Share b;
};

/// The shares of a kernel's math, in the order in which their products are added.
inline std::span<const Shares> shares_of(Math math) {
  static constexpr Shares all[] = {{Share::all, Share::all}};
  static constexpr Shares tf32[] = {{Share::tf32, Share::tf32}};
  static constexpr Shares three[] = {
      {Share::tf32_rest, Share::tf32}, {Share::tf32, Share::tf32_rest}, {Share::tf32, Share::tf32}};
  static constexpr Shares f16[] = {{Share::f16, Share::f16}};
  static constexpr Shares bf16[] = {{Share::bf16, Share::bf16}};
  switch (math) {
    case Math::fast_tf32: return tf32;
    case Math::fast_f32: return three;
    case Math::fast_f16: return f16;
    case Math::fast_bf16: return bf16;
    default: return all;
  }
}

/// The share of an operand's value.
template <class T>
T share_of(T value, Share share) {
  const auto x = static_cast<float>(value);
  switch (share) {
    case Share::tf32: return static_cast<T>(f32_to_tf32(x));
    case Share::tf32_rest: return static_cast<T>(f32_to_tf32(x - f32_to_tf32(x)));
    case Share::f16: return static_cast<T>(rounded_to_f16(x));
    case Share::bf16: return static_cast<T>(rounded_to_bf16(x));
    default: return value;
  }
}

}  // namespace quarry::host
