/// How large sums of products of random bytes become.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/config_parts.hpp"

namespace quarry::lab {

/// The alpha that brings usual sums of `k` products of random s8 or u8 to where rounding, C and the bias show
/// in an output of this type: within the range of a byte, or to a few ones.
inline double alpha_of_byte_sums(DType a, DType b, DType out, std::int64_t k) {
  const auto products = static_cast<double>(std::max<std::int64_t>(k, 1));
  const bool one_sign = is_unsigned(a) && is_unsigned(b);  // of others, most products cancel
  const double usual_sum = one_sign ? 16384 * products : 8192 * std::sqrt(products);
  return (is_byte(out) ? 64 : 2) / usual_sum;
}

}  // namespace quarry::lab
