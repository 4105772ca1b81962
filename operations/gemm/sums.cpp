#include "quarry/sums.hpp"

#include "common/config_parts.hpp"
#include "gemm/operand_scale.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry {

DType sum_type(DType a, DType b, std::optional<DType> accumulator) {
  return partial_type(accumulator.value_or(default_accumulator(a, b)));
}

DType sum_type(const GemmArguments& arguments) {
  const DType accumulator =
      arguments.accumulator.value_or(default_accumulator(arguments.a.dtype, arguments.b.dtype));
  return expressed_type(accumulator, detail::has_blocks_of_scales(arguments));
}

}  // namespace quarry
