#include "operations/common/expression/words.hpp"

#include <algorithm>
#include <string>

#include "operations/common/expression/tensors.hpp"

namespace quarry::detail {
namespace {

/// The declarations, with `out` where it must be among them.
expression::Declarations declared(const Expression& expression, DType out, bool says_out) {
  expression::Declarations all = expression.declarations();
  const auto found = std::ranges::find(all.tensors, "out", &expression::Tensor::name);
  if (found != all.tensors.end()) {
    if (found->dtype == DType::none) found->dtype = out;
  } else if (says_out) {
    all.tensors.push_back({"out", out, expression::Shape::row});
  }
  return all;
}

}  // namespace

void write_expression(const Expression& expression, std::span<const ExpressionTensor> tensors,
                      const TensorView& out, bool says_out, ProblemWords& words) {
  words.flag("epilogue", "'" + expression.text() + "'");
  const std::string with = declared(expression, out.dtype, says_out).text();
  if (!with.empty()) words.flag("with", with);
  for (const expression::Tensor& input : expression.inputs()) {
    const ExpressionTensor* const tensor = find_tensor(tensors, input.name);
    if (out.data == nullptr || tensor == nullptr || tensor->view.data != out.data) continue;
    return words.flag("in-place", input.name);
  }
}

}  // namespace quarry::detail
