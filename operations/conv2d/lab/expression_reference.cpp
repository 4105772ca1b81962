// What a convolution with an expression should give.
#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/expression/reference.hpp"
#include "operations/common/expression/rough.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/conv2d/lab/definition.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/gemm/lab/expression_reference.hpp"

namespace quarry::lab::conv2d {
namespace {

using host::HostOperand;

/// A line of sums, and how far each may be off.
struct LineSums {
  std::vector<double> sums;
  std::vector<double> radii;
};

LineSums line_sums(const Definition& definition, const Place& place, double error) {
  LineSums line;
  for (const Sum& sum : definition.line(place)) {
    line.sums.push_back(sum.value);
    line.radii.push_back(std::isfinite(sum.magnitudes) ? sum.magnitudes * error : 0);
  }
  return line;
}

/// An input's part for one line of outputs.
HostOperand line_of(const Conv2dArguments& args, const expression::Tensor& declared, const Place& place) {
  const ExpressionTensor& tensor = *detail::find_tensor(args.tensors, declared.name);
  HostOperand operand = {.type = declared.dtype};
  if (tensor.view.dtype == DType::none) {
    (void)detail::put_value(tensor, declared.dtype, operand.value);
    return operand;
  }
  operand = host::operand_of(tensor.view, *declared.shape);
  const std::int64_t first = operand.index({place[0], place[1], place[2], 0});
  operand.data = static_cast<char*>(operand.data) + first * bytes_of(operand.type);
  operand.strides = {0, 0, 0, operand.strides[3]};
  return operand;
}

/// An output without values yet.
Expected expected_of(const Conv2dArguments& args, const expression::Output& output,
                     const std::vector<std::int64_t>& rows) {
  const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name);
  if (tensor == nullptr) return bounded_output(Operand::out, args.out, rows);
  return bounded_output(tensor_operand(static_cast<int>(tensor - args.tensors.data())), tensor->view, rows);
}

/// Computes the outputs of a line. @param number of the line in what is expected
void finish_line(const Conv2dArguments& args, const Place& place, const LineSums& sums, std::int64_t number,
                 std::vector<Expected>& outputs) {
  std::vector<HostOperand> inputs;
  for (const expression::Tensor& input : args.expression->inputs())
    inputs.push_back(line_of(args, input, place));
  const std::vector<ExpectedOutput> values = expression_reference(
      *args.expression, {1, 1, 1, std::ssize(sums.sums)}, inputs,
      [](const void* context, const host::ElementPlace& at) {
        const auto& line = *static_cast<const LineSums*>(context);
        return host::PartSums{
            .sum = line.sums.data() + at[3], .up = nullptr, .radius = line.radii.data() + at[3]};
      },
      &sums, detail::rough_nodes(args.expression->graph(), args.out.dtype));
  for (std::size_t i = 0; i < outputs.size(); ++i) put_line(values[i], number, outputs[i]);
}

}  // namespace

Reference reference_with_expression(const Conv2dArguments& args, const ReferenceOptions& options) {
  const auto& e = args.out.extents;
  const std::int64_t terms = terms_of_output(args);
  const double of_a_row = static_cast<double>(e[0] * e[1] * e[3]) *
                          (static_cast<double>(terms) +
                           static_cast<double>(node_cost * std::ssize(args.expression->graph().nodes)));
  const std::vector<std::int64_t> rows = chosen_rows(e[2], of_a_row, options);
  Reference reference;
  for (const expression::Output& output : args.expression->outputs())
    reference.outputs.push_back(expected_of(args, output, rows));
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  const double error =
      gemm::sum_error({args.a.dtype, args.b.dtype, accumulator, args.out.dtype}, args.math, terms);
  const Definition definition(args);
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(e[0] * e[1] * std::ssize(rows), threads, [&](int, std::int64_t number) {
    const std::int64_t entry = number / std::ssize(rows);
    const Place place = {entry / e[1], entry % e[1],
                         rows[static_cast<std::size_t>(number % std::ssize(rows))]};
    finish_line(args, place, line_sums(definition, place, error), number, reference.outputs);
  });
  return reference;
}

}  // namespace quarry::lab::conv2d
