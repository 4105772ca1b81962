/// f16 and bf16 on a CPU: conversions from and to f32 on the bits, exact where they can be, to the nearest
/// with ties to even where they cannot. No branch, so that loops over them vectorise.
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
  // The last bit of 0.5 is worth as much as that of a subnormal f16, so that the addition rounds to it.
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

/// The nearest number of 11 significant bits, ties to even, as f32; too large becomes infinity, NaN stays
/// NaN. So does 9.0; 8.0 rounds ties away from 0.
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
