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

HostOperand input_of(const ElementwiseProblem& p, int input) {
  const ElementwiseTensor& tensor = p.params.tensors[input];
  HostOperand operand = {.data = const_cast<void*>(tensor.data), .type = p.operands[input].type};
  std::ranges::copy(tensor.strides, operand.strides.begin());
  if (p.operands[input].is_gathered) {
    operand.rows = tensor.rows;
  } else {
    operand.value = tensor.value;
  }
  return operand;
}

/// One line of an input, from a place on.
HostOperand line_of(const HostOperand& tensor, ElementPlace place) {
  HostOperand line = tensor;
  if (tensor.data == nullptr) return line;
  line.strides = {0, 0, 0, tensor.strides[3]};
  if (tensor.rows > 0) {  // the line has one index
    place[2] = 0;
    line.strides[2] = tensor.strides[2];
  }
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < place.size(); ++i) offset += place[i] * tensor.strides[i];
  line.data = static_cast<char*>(line.data) + offset * bytes_of(line.type);
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
  for (int i = 0; i < p.inputs; ++i) inputs.push_back(line_of(input_of(p, i), lines.place(line)));
  const std::vector<ExpectedOutput> values = expression_reference(*p.expression, {1, 1, 1, columns}, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) put_line(values[i], line, outputs[i]);
}

/// With reductions all elements count.
Reference reference_of_all(const ElementwiseProblem& p, const detail::OperandList& operands) {
  std::vector<HostOperand> inputs;
  for (int i = 0; i < p.inputs; ++i) inputs.push_back(input_of(p, i));
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
