/// Configs whose operands are copied first (reordered.hpp) where the copy engine does not read their lines,
/// or where the matrix instruction takes only operands that are contiguous along K. Host only.
#pragma once

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// Whether the matrix instruction of these types takes only operands that are contiguous along K.
constexpr bool takes_k_lines(const Types& types) {
  const int bits = bits_of(multiplied_type(types));
  return bits == 8 || bits == 32;
}

/// Whether a config's operands are copied first: it promises no alignment.
constexpr bool reorders(const Config& c) {
  return (takes_k_lines(c.types) || has_half_types(c.types)) && c.alignment == Alignment{1, 1};
}

/// The config whose device code a row runs: `entry`, of the copies where operands are copied.
constexpr Config code_of(const Config& c) {
  Config code = entry(c);
  if (!reorders(code)) return code;
  if (takes_k_lines(code.types)) {
    code.layouts.a = Layout::row;
    code.layouts.b = Layout::column;
  }
  code.alignment = {128 / bits_of(code.types.a), 128 / bits_of(code.types.b)};
  return code;
}

}  // namespace quarry::gemm_sm90
