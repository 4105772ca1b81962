/// The part of a kernel's metadata that all families of GEMMs have alike. Host only.
#pragma once

#include <string_view>

#include "common/describe_epilogue.hpp"
#include "quarry/metadata.hpp"

namespace quarry {

/// What a config says by itself: operands, tile, stages, threads, shared memory, the standard epilogue, all
/// for devices of 8.0. A family adds its modes, and what else it is.
/// @param code the config whose threads and shared memory a launch has
/// @param name kept as a view, like `family`
template <class Config>
constexpr KernelMetadata describe_gemm(std::string_view family, const Config& c, const Config& code,
                                       std::string_view name) {
  Alignment alignment = {1, 1};
  if constexpr (requires { c.alignment; }) alignment = c.alignment;
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = family;
  kernel.operation = Operation::gemm;
  kernel.cc = 80;
  kernel.operands = {.a = {c.types.a, c.layouts.a, alignment.a},
                     .b = {c.types.b, c.layouts.b, alignment.b},
                     .c = {c.types.out, c.layouts.out, 1},
                     .out = {c.types.out, c.layouts.out, 1},
                     .accumulator = c.types.accumulator};
  if constexpr (requires { c.scales; }) kernel.operands.scales = c.scales;
  kernel.design.tile = {c.tile.m, c.tile.n, c.tile.k};
  if constexpr (requires { c.stages; }) kernel.design.stages = c.stages;
  kernel.design.threads = threads(code);
  kernel.design.shared_memory = shared_memory_bytes(code);
  kernel.epilogue = standard_epilogue(c.types);
  return kernel;
}

}  // namespace quarry
