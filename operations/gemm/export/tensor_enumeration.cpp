/// The places of an expression's tensors in an exported header.
#include <string>
#include <vector>

#include "operations/gemm/export/export.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::detail {
namespace {

using expression::Shape;

/// Where the elements of a tensor lie, as quarry_expression_tensor says it.
std::string_view walk_of(const expression::Tensor& tensor) {
  switch (*tensor.shape) {
    case Shape::scalar:
      return is_fp8(tensor.dtype) ? "one value: strides are 0"
                                  : "one value: strides are 0, or data is NULL and `value` is read";
    case Shape::per_row: return "a value for each row: column_stride is 0";
    case Shape::per_column: return "a value for each column: row_stride is 0";
    default: return "m x n";
  }
}

std::string comment_on(const OwnTensor& tensor) {
  return std::string(to_string(tensor.declared.dtype)) + ", " + std::string(walk_of(tensor.declared)) +
         (tensor.is_output ? ", written" : "");
}

}  // namespace

std::string tensor_enumeration(const ExportedKernel& kernel) {
  const std::vector<OwnTensor> tensors = own_tensors(*kernel.expression);
  std::string text =
      "\n/* Places of the expression's tensors. Addresses are multiples of an element. */\nenum {\n";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    text += "  " + kernel.name + "_tensor_" + tensors[i].declared.name + " = " + std::to_string(i) + ", /* " +
            comment_on(tensors[i]) + " */\n";
  }
  return text + "  " + kernel.name + "_tensors = " + std::to_string(tensors.size()) + "\n};\n";
}

}  // namespace quarry::detail
