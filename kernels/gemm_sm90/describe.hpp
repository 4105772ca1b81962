/// The metadata of a gemm_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "common/describe_epilogue.hpp"
#include "gemm_sm90/config.hpp"
#include "quarry/metadata.hpp"

namespace quarry::gemm_sm90 {

/// Shape of the matrix instruction, in the row's own orientation.
constexpr Extent3 instruction_shape(const Config& c) {
  if (c.orientation == Orientation::direct) return {instruction_m, c.tile.n, instruction_k};
  return {c.tile.m, instruction_m, instruction_k};
}

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  const Config code = entry(c);
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = "gemm_sm90";
  kernel.operation = Operation::gemm;
  kernel.cc = 90;
  kernel.max_cc = 90;
  kernel.operands = {.a = {c.types.a, c.layouts.a, c.alignment.a},
                     .b = {c.types.b, c.layouts.b, c.alignment.b},
                     .c = {c.types.out, c.layouts.out, 1},
                     .out = {c.types.out, c.layouts.out, 1},
                     .accumulator = c.types.accumulator};
  kernel.design = {.tile = Extent3{c.tile.m, c.tile.n, c.tile.k},
                   .stages = c.stages,
                   .cluster = Cluster{c.cluster.m, c.cluster.n},
                   .schedule = c.schedule,
                   .copy_engine = c.copy,
                   .orientation = c.orientation,
                   .instruction = instruction_shape(c),
                   .math_unit = MathUnit::tensor_core,
                   .threads = threads(code),
                   .shared_memory = shared_memory_bytes(code)};
  kernel.epilogue = standard_epilogue(c.types);
  // Tensor maps know of strides alone.
  kernel.modes = {.split_k_parallel = true, .split_k_cluster = adds_up_in_cluster(code), .batched = true};
  return kernel;
}

}  // namespace quarry::gemm_sm90
