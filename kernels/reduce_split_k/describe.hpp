/// The metadata of a reduce_split_k kernel. Host only.
#pragma once

#include <string>
#include <string_view>

#include "common/describe_epilogue.hpp"
#include "quarry/metadata.hpp"
#include "reduce_split_k/config.hpp"

namespace quarry::reduce_split_k {

inline constexpr std::string_view family_name = "reduce_split_k";

/// The name of a config: "reduce_split_k_f32_f16". Defined beside the space.
std::string name_of(const Config& c);

/// It multiplies nothing, so it has no A, B, tile and modes. `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = family_name;
  kernel.operation = Operation::reduce_split_k;
  kernel.cc = 80;
  kernel.operands.c.dtype = kernel.operands.out.dtype = c.out;
  kernel.operands.c.layout = kernel.operands.out.layout = c.layout;
  kernel.operands.accumulator = c.partial;
  kernel.design.threads = threads(c);
  kernel.epilogue = standard_epilogue({DType::none, DType::none, c.partial, c.out});
  return kernel;
}

}  // namespace quarry::reduce_split_k
