/// Parameters that are loaded before they are needed.
#pragma once

#include "arch/sm90.hpp"
#include "gemm_sm90/params.hpp"

namespace quarry::gemm_sm90 {

/// Loads a byte of each line of the parameters; tensor maps are left out. The cache of constant memory is
/// cold when a kernel starts: decisions that follow one another would wait for a line each, some 250 cycles.
/// Where all lines are asked for at once, they are there before the first tile is found (512^3 of bf16 takes
/// 3 to 5 % less).
template <class Params>
QUARRY_DEVICE void load_early(const Params& params) {
  constexpr int line = 64;
  constexpr int most_lines_behind = 4;  // what is further on is needed later, or by few warps
  const TensorGemmParams& tensor = params;
  const auto* const begin = reinterpret_cast<const char*>(&params);
  const auto* const behind_maps = reinterpret_cast<const char*>(&tensor.fetched);
  int bytes = 0;
  QUARRY_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(GemmParams)); i += line) bytes |= begin[i];
  QUARRY_UNROLL
  for (int i = 0; i < most_lines_behind * line; i += line) {
    if (behind_maps + i < begin + sizeof(Params)) bytes |= behind_maps[i];
  }
  arch::load_now(bytes);
}

}  // namespace quarry::gemm_sm90
