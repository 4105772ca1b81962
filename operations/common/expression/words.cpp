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

/// The rows of tensors whose rows an index chooses: a flag has one number for all.
void write_table_rows(const Expression& expression, std::span<const ExpressionTensor> tensors,
                      ProblemWords& words) {
  std::int64_t rows = 0;
  for (const expression::Tensor& input : expression.inputs()) {
    if (input.shape != expression::Shape::gathered) continue;
    const ExpressionTensor* const table = find_tensor(tensors, input.name);
    const std::int64_t own = table == nullptr || table->view.rank < 2 ? 0 : rows_of(table->view);
    if (own == 0 || (rows != 0 && own != rows)) words.refuse();
    rows = own;
  }
  words.number("table-rows", rows, 0);
}

}  // namespace

void write_expression(const Expression& expression, std::span<const ExpressionTensor> tensors,
                      const TensorView& out, bool says_out, ProblemWords& words) {
  words.flag("epilogue", "'" + expression.text() + "'");
  const std::string with = declared(expression, out.dtype, says_out).text();
  if (!with.empty()) words.flag("with", with);
  write_table_rows(expression, tensors, words);
  for (const expression::Tensor& input : expression.inputs()) {
    const ExpressionTensor* const tensor = find_tensor(tensors, input.name);
    if (tensor == nullptr || !is_output(tensor->view, out)) continue;
    return words.flag("in-place", input.name);
  }
}

void write_parts(const Expression& expression, std::span<const ExpressionTensor> tensors, bool has_row_parts,
                 ProblemWords& words) {
  std::string names;
  for (const expression::Tensor& input : expression.inputs()) {
    const bool is_row = input.shape == expression::Shape::per_row;
    const bool is_table = input.shape == expression::Shape::gathered;
    if (input.shape != expression::Shape::per_column && !is_table && !(is_row && has_row_parts)) continue;
    const ExpressionTensor* const tensor = find_tensor(tensors, input.name);
    if (tensor == nullptr || tensor->view.rank != (is_table ? 3 : 2)) continue;
    names += (names.empty() ? "" : ",") + input.name;
  }
  if (!names.empty()) words.flag("of-each", names);
}

}  // namespace quarry::detail
