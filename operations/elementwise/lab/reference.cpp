#include <algorithm>
#include <vector>

#include "lab/expression/reference.hpp"
#include "lab/problems/matrices.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/elementwise/lab/operation.hpp"
#include "operations/elementwise/operation.hpp"
#include "operations/elementwise/problem.hpp"

namespace quarry::lab::elementwise {
namespace {

using host::ElementPlace;
using host::HostOperand;

/// One line of an input, from a place on.
HostOperand line_of(const ElementwiseTensor& tensor, DType type, const ElementPlace& place) {
  HostOperand line = {.data = const_cast<void*>(tensor.data), .type = type, .value = tensor.value};
  if (tensor.data == nullptr) return line;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < place.size(); ++i) offset += place[i] * tensor.strides[i];
  line.data = static_cast<char*>(line.data) + offset * bytes_of(type);
  line.strides = {0, 0, 0, tensor.strides[3]};
  return line;
}

/// The chosen lines of a problem.
struct Lines {
  const ElementwiseProblem& problem;
  std::vector<std::int64_t> rows;

  ElementPlace place(std::int64_t line) const {
    const auto count = std::ssize(rows);
    const std::int64_t matrix = line / count;
    const std::int64_t inner = problem.params.extents[1];
    return {matrix / inner, matrix % inner, rows[static_cast<std::size_t>(line % count)], 0};
  }
  std::int64_t count() const {
    return problem.params.extents[0] * problem.params.extents[1] * std::ssize(rows);
  }
};

void compute_line(const Lines& lines, std::int64_t line, std::vector<Expected>& outputs) {
  const ElementwiseProblem& p = lines.problem;
  const std::int64_t columns = p.params.extents[3];
  std::vector<HostOperand> inputs;
  for (int i = 0; i < p.inputs; ++i)
    inputs.push_back(line_of(p.params.tensors[i], p.operands[i].type, lines.place(line)));
  const std::vector<ExpectedOutput> values = expression_reference(*p.expression, {1, 1, 1, columns}, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) put_line(values[i], line, outputs[i]);
}

/// With reductions all elements count.
Reference reference_of_all(const ElementwiseProblem& p, const detail::OperandList& operands) {
  std::vector<HostOperand> inputs;
  for (int i = 0; i < p.inputs; ++i) {
    HostOperand input = {.data = const_cast<void*>(p.params.tensors[i].data),
                         .type = p.operands[i].type,
                         .value = p.params.tensors[i].value};
    std::ranges::copy(p.params.tensors[i].strides, input.strides.begin());
    inputs.push_back(input);
  }
  const long long* const e = p.params.extents;
  const std::vector<ExpectedOutput> values =
      expression_reference(*p.expression, {e[0], e[1], e[2], e[3]}, inputs);
  Reference reference;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Operand name = p.operands[static_cast<std::size_t>(p.inputs) + i].name;
    const TensorView& view = *operands.find(name)->view;
    reference.outputs.push_back(bounded_output(name, view, all_rows(view)));
    put_line(values[i], 0, reference.outputs.back());
  }
  return reference;
}

}  // namespace

Reference Lab::reference(const ElementwiseArguments& args, const ReferenceOptions& options) {
  detail::OperandList operands;
  detail::elementwise::Rules::operands(args, operands);
  ElementwiseProblem problem;
  Reference reference;
  if (!detail::elementwise::normalise(args, operands, problem)) return reference;
  if (problem.reductions.has_any()) return reference_of_all(problem, operands);
  const long long* const extents = problem.params.extents;
  const double of_a_row = static_cast<double>(extents[0] * extents[1] * extents[3]) *
                          static_cast<double>(node_cost * std::ssize(args.expression.graph().nodes));
  const Lines lines = {problem, chosen_rows(extents[2], of_a_row, options)};
  for (int i = problem.inputs; i < problem.tensors; ++i) {
    const Operand name = problem.operands[i].name;
    reference.outputs.push_back(bounded_output(name, *operands.find(name)->view, lines.rows));
  }
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(lines.count(), threads,
                     [&](int, std::int64_t line) { compute_line(lines, line, reference.outputs); });
  return reference;
}

}  // namespace quarry::lab::elementwise
