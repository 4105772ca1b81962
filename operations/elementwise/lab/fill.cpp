#include "lab/expression/indices.hpp"
#include "operations/elementwise/lab/operation.hpp"

namespace quarry::lab::elementwise {

bool Lab::fill(const ElementwiseArguments& arguments, Operand operand, const TensorView& view,
               const FillOptions& options) {
  return fill_indices(arguments.expression, arguments.tensors, operand, view, options);
}

}  // namespace quarry::lab::elementwise
