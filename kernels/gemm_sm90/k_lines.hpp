/// Configs whose matrix instruction takes operands that are contiguous along K: other operands are copied
/// first (reordered.hpp). Host only.
#pragma once

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// Whether the matrix instruction of these types takes only operands that are contiguous along K.
constexpr bool takes_k_lines(const Types& types) {
  const int bits = bits_of(multiplied_type(types));
  return bits == 8 || bits == 32;
}

/// Whether a config's operands are copied for the kernel of operands that are contiguous along K.
constexpr bool reorders(const Config& c) {
  return takes_k_lines(c.types) && (c.layouts.a != Layout::row || c.layouts.b != Layout::column);
}

/// The config whose device code a row runs: `entry`, of the copies where operands are copied.
constexpr Config code_of(const Config& c) {
  Config code = entry(c);
  if (!reorders(code)) return code;
  code.layouts.a = Layout::row;
  code.layouts.b = Layout::column;
  return code;
}

}  // namespace quarry::gemm_sm90
