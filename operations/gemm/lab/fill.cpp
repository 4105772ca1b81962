#include "lab/expression/indices.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "operations/gemm/lab/scales.hpp"

namespace quarry::lab::gemm {

bool Lab::fill(const GemmArguments& arguments, Operand operand, const TensorView& view,
               const FillOptions& options) {
  if (arguments.expression && fill_indices(*arguments.expression, arguments.tensors, operand, view, options))
    return true;
  if (fill_zeros(arguments.b.dtype, operand, view, options)) return true;
  return fill_scales(arguments.out.dtype, operand, view, options);
}

}  // namespace quarry::lab::gemm
