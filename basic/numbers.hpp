/// f16, bf16, e4m3 and e5m2 on a CPU: conversions from and to f32 on the bits, exact where they can be, to
/// the nearest with ties to even where they cannot. No branch, so that loops over them vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace quarry::host {

/// The value of an f16; exact. Every NaN becomes 0x7fffffff, as on the device.
constexpr float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffU;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);  // exponent bias 127 instead of 15
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
  const std::uint32_t finite = sign | (magnitude >= 0x0400U ? normal : subnormal);
  const std::uint32_t special = magnitude == 0x7c00U ? sign | 0x7f800000U : 0x7fffffffU;
  return std::bit_cast<float>(magnitude >= 0x7c00U ? special : finite);
}

/// The nearest f16; too large becomes infinity, a NaN becomes 0x7fff as on the device.
constexpr std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits ^ magnitude) >> 16;
  // The last bit of 0.5 is worth as much as a subnormal f16's, so that the addition rounds to it.
  const float clamped = magnitude < 0x38800000U ? std::bit_cast<float>(magnitude) : 0.0F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(clamped + 0.5F) - 0x3f000000U;
  const std::uint32_t rebiased = magnitude - (112U << 23);
  const std::uint32_t normal = (rebiased + 0xfffU + (rebiased >> 13 & 1U)) >> 13;
  const std::uint32_t finite = magnitude < 0x38800000U ? subnormal : normal < 0x7c00U ? normal : 0x7c00U;
  if (magnitude > 0x7f800000U) return 0x7fff;
  return static_cast<std::uint16_t>(sign | (magnitude >= 0x47800000U ? 0x7c00U : finite));
}

/// The value of a bf16; exact.
constexpr float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The nearest bf16; too large becomes infinity, a NaN becomes 0x7fff as on the device.
constexpr std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

/// The 8-bit formats of the OCP specification (OFP8), by their numbers.
struct Fp8Format {
  int mantissa_bits;
  std::uint32_t bias;
  std::uint32_t largest;  ///< code of the greatest finite number; greater ones become it
  bool has_infinity;      ///< the code behind `largest`; without it, that code is NaN
};
inline constexpr Fp8Format e4m3_format = {3, 7, 0x7e, false};
inline constexpr Fp8Format e5m2_format = {2, 15, 0x7b, true};

/// The value of an 8-bit code; exact. Every NaN becomes 0x7fffffff.
template <Fp8Format format>
constexpr float fp8_to_f32(std::uint8_t bits) {
  constexpr int shift = 23 - format.mantissa_bits;
  constexpr std::uint32_t subnormal_unit = (128 - format.bias - format.mantissa_bits) << 23;
  const std::uint32_t magnitude = bits & 0x7fU;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
  const std::uint32_t normal = (magnitude << shift) + ((127 - format.bias) << 23);
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * std::bit_cast<float>(subnormal_unit));
  const std::uint32_t finite = sign | (magnitude >> format.mantissa_bits != 0 ? normal : subnormal);
  const bool is_infinite = format.has_infinity && magnitude == format.largest + 1;
  const std::uint32_t special = is_infinite ? sign | 0x7f800000U : 0x7fffffffU;
  return std::bit_cast<float>(magnitude > format.largest ? special : finite);
}

/// The nearest 8-bit code. Numbers that are too large, infinities too, become the greatest finite one of
/// their sign; a NaN becomes 0x7f as on the device.
template <Fp8Format format>
constexpr std::uint8_t f32_to_fp8(float value) {
  constexpr int shift = 23 - format.mantissa_bits;
  constexpr std::uint32_t smallest_normal = (128 - format.bias) << 23;
  // The last bit of this number is worth as much as a subnormal's, so that the addition rounds to it.
  constexpr std::uint32_t rounder = smallest_normal + (static_cast<std::uint32_t>(shift) << 23);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t sign = (bits ^ magnitude) >> 24;
  const float small = magnitude < smallest_normal ? std::bit_cast<float>(magnitude) : 0.0F;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(small + std::bit_cast<float>(rounder)) - rounder;
  const std::uint32_t rebiased = magnitude - ((127 - format.bias) << 23);
  const std::uint32_t normal = (rebiased + ((1U << (shift - 1)) - 1) + (rebiased >> shift & 1U)) >> shift;
  const std::uint32_t rounded = magnitude < smallest_normal ? subnormal : normal;
  if (magnitude > 0x7f800000U) return 0x7f;
  return static_cast<std::uint8_t>(sign | (rounded < format.largest ? rounded : format.largest));
}

constexpr float e4m3_to_f32(std::uint8_t bits) { return fp8_to_f32<e4m3_format>(bits); }
constexpr std::uint8_t f32_to_e4m3(float value) { return f32_to_fp8<e4m3_format>(value); }
constexpr float e5m2_to_f32(std::uint8_t bits) { return fp8_to_f32<e5m2_format>(bits); }
constexpr std::uint8_t f32_to_e5m2(float value) { return f32_to_fp8<e5m2_format>(value); }

/// The nearest number of 11 significant bits, ties to even, as f32; too large becomes infinity, NaN stays
/// NaN. 9.0 rounds in this way; 8.0 rounds ties away from 0.
constexpr float f32_to_tf32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return std::bit_cast<float>(0x7fffffffU);
  return std::bit_cast<float>((bits + 0xfffU + (bits >> 13 & 1U)) & ~0x1fffU);
}

/// The nearest f16, as f32.
constexpr float rounded_to_f16(float value) { return f16_to_f32(f32_to_f16(value)); }

/// The nearest bf16, as f32.
constexpr float rounded_to_bf16(float value) { return bf16_to_f32(f32_to_bf16(value)); }

}  // namespace quarry::host
