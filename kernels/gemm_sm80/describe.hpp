/// The metadata of a gemm_sm80 kernel. Host only.
#pragma once

#include <string_view>

#include "common/describe_epilogue.hpp"
#include "gemm_sm80/config.hpp"
#include "quarry/metadata.hpp"

namespace quarry::gemm_sm80 {

constexpr Extent3 extent(const Tile& t) { return {t.m, t.n, t.k}; }

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = "gemm_sm80";
  kernel.operation = Operation::gemm;
  kernel.cc = 80;
  if (c.instruction == Instruction::m16n8k16) kernel.cc = 90, kernel.max_cc = 90;
  kernel.operands = {.a = {c.types.a, c.layouts.a, c.alignment.a},
                     .b = {c.types.b, c.layouts.b, c.alignment.b},
                     .c = {c.types.out, c.layouts.out, 1},
                     .out = {c.types.out, c.layouts.out, 1},
                     .accumulator = c.types.accumulator};
  kernel.design = {.tile = extent(c.tile),
                   .warps = Extent3{c.warps.m, c.warps.n, c.warps.k},
                   .stages = c.stages,
                   .instruction = extent(instruction_shape(c)),
                   .math = c.math,
                   .math_unit = MathUnit::tensor_core,
                   .threads = threads(c),
                   .shared_memory = shared_memory_bytes(c)};
  kernel.epilogue = standard_epilogue(c.types);
  kernel.epilogue.fast_clamp = c.epilogue == EpilogueKind::fast_clamp;
  if (c.schedule == Schedule::stream_k) {
    kernel.design.schedule = c.schedule;
    kernel.modes = {.stream_k = true, .batched = true};
  } else {
    kernel.modes = {.split_k_serial = true, .split_k_parallel = true, .batched = true};
  }
  kernel.modes.array = true;
  return kernel;
}

}  // namespace quarry::gemm_sm80
