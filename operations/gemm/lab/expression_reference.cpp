#include "operations/gemm/lab/expression_reference.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/expression/reference.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/rough.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/lab/scales.hpp"

namespace quarry::lab::gemm {
namespace {

using host::HostOperand;
using host::Matrix;
using host::read_element;

/// sum_error of a GEMM. Whole numbers times scales are added up in f32.
double relative_error(const GemmArguments& args, std::int64_t k) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  const bool is_promoted = detail::has_blocks_of_scales(args);
  const DType sums = is_promoted && is_integer(accumulator) ? DType::f32 : accumulator;
  return sum_error({args.a.dtype, args.b.dtype, sums, args.out.dtype}, args.math, k,
                   is_promoted ? Accumulation::precise : args.accumulation);
}

/// One row of sums, and how far each output's may be off: with gated pairs the larger one of both.
struct RowSums {
  std::vector<double> sums;
  std::vector<double> radii;
};

/// Where a column of B stands in that order: gates, then their partners.
std::int64_t half_place(std::int64_t column, std::int64_t columns, expression::Pairs pairs) {
  if (pairs != expression::Pairs::eights) return column;
  const std::int64_t block = column / 8;
  return block / 2 * 8 + column % 8 + (block % 2 == 0 ? 0 : columns / 2);
}

/// The matrix B of a batch entry times its scales, row by row; of gated pairs gates in the first half of a
/// row, and their partners in the second one.
std::vector<double> values_of(const Matrix& b, const Scales& scales, std::int64_t entry,
                              expression::Pairs pairs) {
  std::vector<double> values(static_cast<std::size_t>(b.rows * b.columns));
  const void* const first = b.first(entry);
  host::with_element(b.type, [&]<class E>(E) {
    for (std::int64_t k = 0; k < b.rows; ++k) {
      for (std::int64_t n = 0; n < b.columns; ++n)
        values[static_cast<std::size_t>(k * b.columns + half_place(n, b.columns, pairs))] =
            scales.at(entry, k, n) * static_cast<double>(read_element<E>(first, b.index(k, n)));
    }
  });
  return values;
}

/// The operands of sums, and how far these may be off.
struct Operands {
  explicit Operands(const GemmArguments& args)
      : a(args.a),
        b(args.b),
        a_scales(Scales::of_a(args.a_scale, args.a_scale_granularity)),
        b_scales(Scales::of_b(args.b_scale, args.b_scale_granularity)),
        error(relative_error(args, a.columns)),
        pairs(args.expression->pairs()) {}

  /// Rows of B of a batch entry, as values_of.
  std::vector<double> b_values(std::int64_t entry) const { return values_of(b, b_scales, entry, pairs); }

  Matrix a;
  Matrix b;
  Scales a_scales;
  Scales b_scales;
  double error;
  expression::Pairs pairs;
};

/// @param b b_values of the entry  @param outputs columns of the output: as many as B has, or half of them
RowSums row_sums(const Operands& operands, std::int64_t entry, std::int64_t row, const std::vector<double>& b,
                 std::int64_t outputs) {
  const Matrix& a = operands.a;
  const std::int64_t columns = operands.b.columns;
  RowSums result = {std::vector<double>(static_cast<std::size_t>(columns)),
                    std::vector<double>(static_cast<std::size_t>(columns))};
  for (std::int64_t k = 0; k < a.columns; ++k) {
    const double factor =
        operands.a_scales.at(entry, row, k) * read_element(a.type, a.first(entry), a.index(row, k));
    const double* const from = b.data() + k * columns;
    for (std::size_t n = 0; n < result.sums.size(); ++n) {
      const double product = factor * from[n];
      result.sums[n] += product;
      result.radii[n] += std::abs(product);
    }
  }
  for (double& radius : result.radii) radius = std::isfinite(radius) ? radius * operands.error : 0;
  const auto kept = static_cast<std::size_t>(outputs);
  for (std::size_t n = kept; n < result.radii.size(); ++n)
    result.radii[n - kept] = std::max(result.radii[n - kept], result.radii[n]);
  result.radii.resize(kept);
  return result;
}

/// The sums of a place in a row, and of its pair, where there is one.
/// @param sums of a row, as many as B has columns: one or two for each column of the output
host::PartSums part_of(std::span<const double> sums, const double* radii, std::int64_t column,
                       std::int64_t outputs) {
  const double* const sum = sums.data() + column;
  return {.sum = sum, .up = std::ssize(sums) > outputs ? sum + outputs : nullptr, .radius = radii + column};
}

/// A tensor of the expression, and the strides of its elements.
struct Input {
  HostOperand operand;

  /// Its part for one row.
  HostOperand line(std::int64_t entry, std::int64_t row) const {
    HostOperand line = operand;
    if (line.data == nullptr) return line;
    const bool is_gathered = line.rows > 0;  // by an index that is one value of the line
    line.data =
        static_cast<char*>(line.data) +
        (entry * operand.strides[1] + (is_gathered ? 0 : row * operand.strides[2])) * bytes_of(line.type);
    line.strides = {0, 0, is_gathered ? operand.strides[2] : 0, operand.strides[3]};
    return line;
  }
};

std::vector<Input> inputs_of(const GemmArguments& args) {
  std::array<std::int64_t, 4> extents = {1, 1, 1, 1};
  for (std::size_t i = 0; i < args.out.rank; ++i) extents[4U - args.out.rank + i] = args.out.extents[i];
  std::vector<Input> inputs;
  for (const expression::Tensor& declared : args.expression->inputs()) {
    const ExpressionTensor& tensor = *detail::find_tensor(args.tensors, declared.name);
    HostOperand operand = {.type = declared.dtype};
    if (tensor.view.dtype == DType::none) {
      (void)detail::put_value(tensor, declared.dtype, operand.value);
    } else {
      std::array<long long, 4> strides = {};
      (void)detail::put_strides(tensor, *declared.shape, false, extents, strides);
      operand.data = const_cast<void*>(tensor.view.data);
      std::ranges::copy(strides, operand.strides.begin());
      if (declared.shape == expression::Shape::gathered) operand.rows = detail::rows_of(tensor.view);
    }
    inputs.push_back({operand});
  }
  return inputs;
}

const TensorView& view_of_output(const GemmArguments& args, const expression::Output& output) {
  const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name);
  return tensor == nullptr ? args.out : tensor->view;
}

Expected expected_of(const GemmArguments& args, const expression::Output& output,
                     const std::vector<std::int64_t>& rows) {
  Operand name = Operand::out;
  if (const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name)) {
    name = tensor_operand(static_cast<int>(tensor - args.tensors.data()));
  }
  return bounded_output(name, view_of_output(args, output), rows);
}

/// Computes the outputs of one row. @param line its number in what is expected
void finish_row(const GemmArguments& args, const std::vector<Input>& inputs, const RowSums& sums,
                std::int64_t entry, std::int64_t row, std::int64_t line, std::vector<Expected>& outputs) {
  std::vector<HostOperand> lines;
  for (const Input& input : inputs) lines.push_back(input.line(entry, row));
  const auto columns = static_cast<std::int64_t>(sums.radii.size());
  const std::vector<ExpectedOutput> values = expression_reference(
      *args.expression, {1, 1, 1, columns}, lines,
      [](const void* context, const host::ElementPlace& place) {
        const RowSums& all = *static_cast<const RowSums*>(context);
        return part_of(all.sums, all.radii.data(), place[3], std::ssize(all.radii));
      },
      &sums, detail::rough_nodes(args.expression->graph(), args.out.dtype));
  for (std::size_t i = 0; i < outputs.size(); ++i) put_line(values[i], line, outputs[i]);
}

/// All sums of a problem, a row after another.
struct AllSums {
  std::int64_t rows;
  std::int64_t columns;  ///< of B
  std::int64_t outputs;  ///< columns of the output
  std::vector<double> sums;
  std::vector<double> radii;

  host::PartSums part(const host::ElementPlace& place) const {
    const std::int64_t line = place[1] * rows + place[2];
    const std::span row(sums.data() + line * columns, static_cast<std::size_t>(columns));
    return part_of(row, radii.data() + line * outputs, place[3], outputs);
  }
};

AllSums all_sums(const GemmArguments& args, std::int64_t outputs, int threads) {
  const Operands operands(args);
  const Matrix& b = operands.b;
  const Matrix out(args.out);
  const std::int64_t lines = out.batch * out.rows;
  AllSums all = {.rows = out.rows,
                 .columns = b.columns,
                 .outputs = outputs,
                 .sums = std::vector<double>(static_cast<std::size_t>(lines * b.columns)),
                 .radii = std::vector<double>(static_cast<std::size_t>(lines * outputs))};
  for (std::int64_t entry = 0; entry < out.batch; ++entry) {
    const std::vector<double> values = operands.b_values(entry);
    host::parallel_for(out.rows, threads, [&](int, std::int64_t row) {
      const RowSums sums = row_sums(operands, entry, row, values, outputs);
      const std::int64_t line = entry * out.rows + row;
      std::ranges::copy(sums.sums, all.sums.begin() + line * b.columns);
      std::ranges::copy(sums.radii, all.radii.begin() + line * outputs);
    });
  }
  return all;
}

/// With reductions all elements count.
Reference reference_of_all(const GemmArguments& args, int threads) {
  const Matrix out(args.out);
  const AllSums sums = all_sums(args, out.columns, threads);
  std::vector<HostOperand> inputs;
  for (const Input& input : inputs_of(args)) inputs.push_back(input.operand);
  const std::vector<ExpectedOutput> values = expression_reference(
      *args.expression, {1, out.batch, out.rows, out.columns}, inputs,
      [](const void* context, const host::ElementPlace& place) {
        return static_cast<const AllSums*>(context)->part(place);
      },
      &sums, detail::rough_nodes(args.expression->graph(), args.out.dtype));
  Reference reference;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const expression::Output& output = args.expression->outputs()[i];
    reference.outputs.push_back(expected_of(args, output, all_rows(view_of_output(args, output))));
    put_line(values[i], 0, reference.outputs.back());
  }
  return reference;
}

}  // namespace

double sum_error(const Types& types, Math math, std::int64_t k, Accumulation sums) {
  if (is_integer(types.accumulator)) return 0;
  double most = 0;
  for (const MathUnit unit : {MathUnit::simt, MathUnit::tensor_core})
    most = std::max(most, tolerance(types.accumulator, types.out, unit, k, math, types.a, sums).accumulation);
  return 4 * most;
}

ReferenceOfParts reference_of_problems(std::span<const GemmArguments> problems, const GemmArguments& list,
                                       int threads) {
  const auto operands_of = [](const GemmArguments& args) {
    std::vector<HostOperand> operands;
    for (const Input& input : inputs_of(args)) operands.push_back(input.operand);
    return operands;
  };
  std::vector<AllSums> sums;
  for (const GemmArguments& args : problems)
    sums.push_back(all_sums(args, Matrix(args.out).columns, threads));
  std::vector<ReferencePart> parts;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Matrix out(problems[i].out);
    parts.push_back({{1, 1, out.rows, out.columns}, operands_of(problems[i]), &sums[i]});
  }
  return expression_reference_of(
      *list.expression, parts, operands_of(list),
      [](const void* context, const host::ElementPlace& place) {
        return static_cast<const AllSums*>(context)->part(place);
      },
      detail::rough_nodes(list.expression->graph(), list.out.dtype));
}

Reference reference_with_expression(const GemmArguments& args, const ReferenceOptions& options) {
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  if (detail::has_reductions(*args.expression)) return reference_of_all(args, threads);
  const Operands operands(args);
  const Matrix out(args.out);
  const std::int64_t of_an_element = operands.a.columns * (operands.b.columns > out.columns ? 2 : 1) +
                                     node_cost * std::ssize(args.expression->graph().nodes);
  const double of_a_row = static_cast<double>(out.batch * out.columns) * static_cast<double>(of_an_element);
  const std::vector<std::int64_t> rows = chosen_rows(out.rows, of_a_row, options);
  Reference reference;
  for (const expression::Output& output : args.expression->outputs())
    reference.outputs.push_back(expected_of(args, output, rows));
  const std::vector<Input> inputs = inputs_of(args);
  for (std::int64_t entry = 0; entry < out.batch; ++entry) {
    const std::vector<double> values = operands.b_values(entry);
    host::parallel_for(std::ssize(rows), threads, [&](int, std::int64_t i) {
      const std::int64_t row = rows[static_cast<std::size_t>(i)];
      const RowSums sums = row_sums(operands, entry, row, values, out.columns);
      finish_row(args, inputs, sums, entry, row, entry * std::ssize(rows) + i, reference.outputs);
    });
  }
  return reference;
}

}  // namespace quarry::lab::gemm
