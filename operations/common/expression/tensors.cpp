#include "operations/common/expression/tensors.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "basic/text.hpp"
#include "operations/common/expression/functions.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

using expression::Shape;

bool is_named(const Expression& expression, std::string_view name) {
  const auto is_input = [&](const expression::Tensor& t) { return t.name == name; };
  const auto is_output = [&](const expression::Output& o) { return o.tensor.name == name; };
  return std::ranges::any_of(expression.inputs(), is_input) ||
         std::ranges::any_of(expression.outputs(), is_output);
}

/// The place among four extents of a view's extent; 4 for a scalar, whose extents are 1.
std::size_t place_of(const TensorView& view, Shape shape, std::size_t extent) {
  if (has_rows(shape)) return 4U - view.rank + extent;
  if (shape == Shape::scalar) return 4;
  const std::size_t last = view.rank - 1U;
  if (extent == last) return shape == Shape::per_row ? 2 : 3;
  return 2 - last + extent;
}

/// A quoted word of a message, and the name that stands for it.
struct Renamed {
  std::string word;
  std::string name;
};

/// The status with names in its message. They are put in at one go, as a name may be another one's word.
Status with_names(const Status& status, std::span<const Renamed> names) {
  if (status) return status;
  const std::string message = status.message();
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = message.find('`'); at != message.npos; at = message.find('`', at + 1)) {
    const auto renamed = std::ranges::find_if(
        names, [&](const Renamed& each) { return message.compare(at, each.word.size(), each.word) == 0; });
    if (renamed == names.end()) continue;
    result.append(message, done, at - done).append(renamed->name);
    done = at + renamed->word.size();
    at = done - 1;
  }
  if (done == 0) return status;
  return status.with_message(result.append(message, done));
}

std::string quoted_word(Operand name) { return quoted(to_string(name)); }

/// The status of a check of one tensor, with its own name.
Status with_name(const Status& status, Operand name, const ExpressionTensor& tensor) {
  if (status) return status;
  const Renamed renamed[] = {{quoted_word(name), quoted(tensor.name)}};
  return with_names(status, renamed);
}

Status mismatch(std::string_view name, std::string_view along, std::int64_t expected, std::int64_t got,
                bool is_output) {
  return invalid(about_tensor(name) + "does not fit `out` along " + std::string(along) + ": expected " +
                 std::to_string(expected) + (is_output || expected == 1 ? "" : " or 1") + ", got " +
                 std::to_string(got));
}

}  // namespace

std::string about_tensor(std::string_view name) { return "Operand " + quoted(name) + " "; }

const ExpressionTensor* find_tensor(std::span<const ExpressionTensor> tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &ExpressionTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

Status check_tensor_names(const Expression& expression, std::span<const ExpressionTensor> tensors) {
  for (const ExpressionTensor& tensor : tensors) {
    if (!is_named(expression, tensor.name))
      return invalid(about_tensor(tensor.name) + "is not in the expression " + quoted(expression.text()));
    if (find_tensor(tensors, tensor.name) != &tensor)
      return invalid(about_tensor(tensor.name) + "is given twice");
  }
  return {};
}

Status check_tensor_view(const ExpressionTensor& tensor, Operand name, DType declared) {
  const TensorView& view = tensor.view;
  if (Status s = check_tensor(view, name, 1, TensorView::max_rank); !s) return with_name(s, name, tensor);
  if (view.is_pointer_array)
    return invalid(about_tensor(tensor.name) + "is an array of pointers, which expressions do not take");
  if (view.tag != LayoutTag::strided)
    return invalid(about_tensor(tensor.name) + "is " + std::string(to_string(view.tag)) +
                   "; expressions take strided tensors, and `reorder` makes them");
  if (bytes_of(view.dtype) == 0)
    return invalid(about_tensor(tensor.name) + "is of " + std::string(to_string(view.dtype)) +
                   "; kernels with expressions take types of whole bytes");
  if (declared != DType::none && declared != view.dtype)
    return invalid(about_tensor(tensor.name) + "is declared " + std::string(to_string(declared)) +
                   ", but is of " + std::string(to_string(view.dtype)));
  return {};
}

Status check_output_tensor(const ExpressionTensor& tensor, Operand name) {
  if (!is_rounded_to(tensor.view.dtype))
    return {StatusCode::unsupported, about_tensor(tensor.name) + "is an output of " +
                                         std::string(to_string(tensor.view.dtype)) +
                                         ", which no kernel with an expression writes yet"};
  return with_name(check_output_strides(tensor.view, name), name, tensor);
}

Status put_strides(const ExpressionTensor& tensor, Shape shape, bool is_output,
                   std::span<const std::int64_t, 4> extents, std::span<long long, 4> strides) {
  static constexpr std::string_view along[] = {"the first extent", "the batch", "rows", "columns"};
  const TensorView& view = tensor.view;
  if (shape == Shape::gathered && view.rank < 2)
    return invalid(about_tensor(tensor.name) +
                   "is gathered: expected a matrix, of rank 2 or more, got rank 1");
  if (!has_rows(shape) && shape != Shape::scalar && view.rank > 3)
    return invalid(about_tensor(tensor.name) + "is a vector for each " +
                   (shape == Shape::per_row ? "row" : "column") + ": expected rank 1 to 3, got 4");
  std::ranges::fill(strides, 0);
  for (std::size_t i = 0; i < view.rank; ++i) {
    const std::size_t place = place_of(view, shape, i);
    const std::int64_t extent = place < 4 ? extents[place] : 1;
    const bool is_any = shape == Shape::gathered && place == 2;
    if (!is_any && view.extents[i] != extent && (view.extents[i] != 1 || is_output))
      return mismatch(tensor.name, place < 4 ? along[place] : "each extent", extent, view.extents[i],
                      is_output);
    if (place < 4 && view.extents[i] != 1) strides[place] = view.strides[i];
  }
  // Of a vector, rows or columns are the last extent.
  const std::size_t least = is_matrix(shape) ? 4 : 3;
  for (std::size_t place = 0; is_output && place + view.rank < least && shape != Shape::scalar; ++place) {
    if (extents[place] != 1) return mismatch(tensor.name, along[place], extents[place], 1, true);
  }
  return {};
}

Status put_value(const ExpressionTensor& tensor, DType type, double& value) {
  if (bits_of(type) < 8 || is_fp8(type))
    return invalid(about_tensor(tensor.name) + "is a value of " + std::string(to_string(type)) +
                   "; such a scalar is given as a tensor");
  host::with_element(
      type, [&]<class E>(E) { value = static_cast<double>(E::to_value(E::from_value(tensor.value))); });
  return {};
}

Status with_names(const Status& status, std::span<const ExpressionTensor> tensors) {
  if (status) return status;
  std::vector<Renamed> names;
  for (std::size_t i = 0; i < tensors.size() && i < tensor_operands; ++i)
    names.push_back({quoted_word(tensor_operand(static_cast<int>(i))), quoted(tensors[i].name)});
  return with_names(status, names);
}

bool gathers(const Expression& expression) {
  return std::ranges::any_of(expression.inputs(),
                             [](const expression::Tensor& t) { return t.shape == Shape::gathered; });
}

ReductionCounts reduction_counts(const ExpressionGraph& graph) {
  ReductionCounts counts;
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::reduce) continue;
    switch (reductions()[node.which].extent) {
      case expression::Extent::group: ++counts.groups; break;
      case expression::Extent::row: ++counts.rows; break;
      case expression::Extent::column: ++counts.columns; break;
      default: ++counts.all;
    }
  }
  return counts;
}

ReductionCounts reduction_counts(const Expression& expression) {
  return reduction_counts(expression.graph());
}

bool is_read_before_out(const ExpressionGraph& graph, std::string_view name) {
  const auto input = std::ranges::find(graph.inputs, name, &expression::Tensor::name);
  if (input != graph.inputs.end() && input->shape == Shape::gathered) return false;
  if (!reduction_counts(graph).has_lines()) return true;
  const auto out =
      std::ranges::find_if(graph.outputs, [](const expression::Output& o) { return o.tensor.name == "out"; });
  return input != graph.inputs.end() && is_matrix(*input->shape) && out != graph.outputs.end() &&
         out->extent == expression::Extent::element;
}

bool is_read_before_out(const Expression& expression, std::string_view name) {
  return is_read_before_out(expression.graph(), name);
}

std::array<std::int64_t, 4> extents_after(expression::Extent extent, std::array<std::int64_t, 4> elements) {
  using expression::Extent;
  constexpr std::int64_t group = expression::group_columns;
  if (extent == Extent::group) elements[3] = (elements[3] + group - 1) / group;
  if (extent == Extent::row) elements[3] = 1;
  if (extent == Extent::column) elements[2] = 1;
  return extent == Extent::all ? std::array<std::int64_t, 4>{1, 1, 1, 1} : elements;
}

Status check_rounding(const Expression& expression, std::string_view kernels) {
  for (const Node& node : expression.graph().nodes) {
    const auto type = static_cast<DType>(node.which);
    if (node.kind == NodeKind::convert && !is_rounded_to(type)) {
      return {StatusCode::unsupported, "Values are not rounded to " + std::string(to_string(type)) + " by " +
                                           std::string(kernels) + " yet: " + quoted(expression.text())};
    }
  }
  return {};
}

Status check_by_element(const Expression& expression, std::string_view kernels) {
  if (expression.is_gated())
    return {StatusCode::unsupported,
            "Gated pairs are not computed by " + std::string(kernels) + " yet: " + quoted(expression.text())};
  if (has_reductions(expression))
    return invalid("Reductions are not computed by " + std::string(kernels) +
                   " yet: " + quoted(expression.text()));
  return check_rounding(expression, kernels);
}

}  // namespace quarry::detail
