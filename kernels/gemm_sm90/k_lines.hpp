/// Configs whose matrix instruction takes operands that are contiguous along K, in lines that the copy engine
/// reads: other operands are copied first (reordered.hpp). Host only.
#pragma once

#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// Whether the matrix instruction of these types takes only operands that are contiguous along K.
constexpr bool takes_k_lines(const Types& types) {
  const int bits = bits_of(multiplied_type(types));
  return bits == 8 || bits == 32;
}

/// Whether a config's operands are copied for the kernel of operands that are contiguous along K: it promises
/// no alignment, and has any layouts.
constexpr bool reorders(const Config& c) { return takes_k_lines(c.types) && c.alignment == Alignment{1, 1}; }

/// The config whose device code a row runs: `entry`, of the copies where operands are copied.
constexpr Config code_of(const Config& c) {
  Config code = entry(c);
  if (!reorders(code)) return code;
  code.layouts.a = Layout::row;
  code.layouts.b = Layout::column;
  code.alignment = {128 / bits_of(code.types.a), 128 / bits_of(code.types.b)};
  return code;
}

}  // namespace quarry::gemm_sm90
