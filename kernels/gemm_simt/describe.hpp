/// The metadata of a gemm_simt kernel. Host only.
#pragma once

#include <string_view>

#include "common/describe_epilogue.hpp"
#include "gemm_simt/config.hpp"
#include "quarry/metadata.hpp"

namespace quarry::gemm_simt {

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = "gemm_simt";
  kernel.operation = Operation::gemm;
  kernel.cc = 80;
  kernel.operands = {.a = {c.types.a, c.layouts.a, 1},
                     .b = {c.types.b, c.layouts.b, 1},
                     .c = {c.types.out, c.layouts.out, 1},
                     .out = {c.types.out, c.layouts.out, 1},
                     .accumulator = c.types.accumulator};
  kernel.design.tile = {c.tile.m, c.tile.n, c.tile.k};
  kernel.design.math_unit = MathUnit::simt;
  kernel.design.threads = threads(c);
  kernel.design.shared_memory = shared_memory_bytes(c);
  kernel.epilogue = standard_epilogue(c.types);
  kernel.modes = {.split_k_serial = true, .split_k_parallel = true, .batched = true, .array = true};
  return kernel;
}

}  // namespace quarry::gemm_simt
