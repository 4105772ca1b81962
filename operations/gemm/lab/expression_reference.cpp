#include "operations/gemm/lab/expression_reference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/expression/reference.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"

namespace quarry::lab::gemm {
namespace {

using host::HostOperand;
using host::Matrix;
using host::read_element;

/// How far a sum may be off, as a part of the sum of its products' magnitudes.
double relative_error(const GemmArguments& args, std::int64_t k) {
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  if (is_integer(accumulator)) return 0;
  double most = 0;
  for (const MathUnit unit : {MathUnit::simt, MathUnit::tensor_core})
    most =
        std::max(most, tolerance(accumulator, args.out.dtype, unit, k, args.math, args.a.dtype).accumulation);
  return 4 * most;
}

/// One row of sums, and how far each may be off.
struct RowSums {
  std::vector<double> sums;
  std::vector<double> radii;
};

/// The matrix B of a batch entry, row by row.
std::vector<double> values_of(const Matrix& b, std::int64_t entry) {
  std::vector<double> values(static_cast<std::size_t>(b.rows * b.columns));
  const void* const first = b.first(entry);
  host::with_element(b.type, [&]<class E>(E) {
    for (std::int64_t k = 0; k < b.rows; ++k) {
      for (std::int64_t n = 0; n < b.columns; ++n)
        values[static_cast<std::size_t>(k * b.columns + n)] =
            static_cast<double>(read_element<E>(first, b.index(k, n)));
    }
  });
  return values;
}

RowSums row_sums(const Matrix& a, std::int64_t entry, std::int64_t row, const std::vector<double>& b,
                 std::int64_t columns, double error) {
  RowSums result = {std::vector<double>(static_cast<std::size_t>(columns)),
                    std::vector<double>(static_cast<std::size_t>(columns))};
  for (std::int64_t k = 0; k < a.columns; ++k) {
    const double factor = read_element(a.type, a.first(entry), a.index(row, k));
    const double* const from = b.data() + k * columns;
    for (std::size_t n = 0; n < result.sums.size(); ++n) {
      const double product = factor * from[n];
      result.sums[n] += product;
      result.radii[n] += std::abs(product);
    }
  }
  for (double& radius : result.radii) radius = std::isfinite(radius) ? radius * error : 0;
  return result;
}

/// A tensor of the expression, and the strides of its elements.
struct Input {
  HostOperand operand;

  /// Its part for one row.
  HostOperand line(std::int64_t entry, std::int64_t row) const {
    HostOperand line = operand;
    if (line.data == nullptr) return line;
    line.data = static_cast<char*>(line.data) +
                (entry * operand.strides[1] + row * operand.strides[2]) * bytes_of(line.type);
    line.strides = {0, 0, 0, operand.strides[3]};
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
    }
    inputs.push_back({operand});
  }
  return inputs;
}

Expected expected_of(const GemmArguments& args, const expression::Output& output,
                     const std::vector<std::int64_t>& rows) {
  Operand name = Operand::out;
  const TensorView* view = &args.out;
  if (const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name)) {
    name = tensor_operand(static_cast<int>(tensor - args.tensors.data()));
    view = &tensor->view;
  }
  return bounded_output(name, *view, rows);
}

/// Computes the outputs of one row. @param line its number in what is expected
void finish_row(const GemmArguments& args, const std::vector<Input>& inputs, const RowSums& sums,
                std::int64_t entry, std::int64_t row, std::int64_t line, std::vector<Expected>& outputs) {
  std::vector<HostOperand> lines;
  for (const Input& input : inputs) lines.push_back(input.line(entry, row));
  const auto columns = static_cast<std::int64_t>(sums.sums.size());
  const std::vector<ExpectedOutput> values = expression_reference(
      *args.expression, {1, 1, 1, columns}, lines,
      [](const void* context, const host::ElementPlace& place) {
        const RowSums& all = *static_cast<const RowSums*>(context);
        return host::PartSums{
            .sum = all.sums.data() + place[3], .up = nullptr, .radius = all.radii.data() + place[3]};
      },
      &sums);
  for (std::size_t i = 0; i < outputs.size(); ++i) put_line(values[i], line, outputs[i]);
}

}  // namespace

Reference reference_with_expression(const GemmArguments& args, const ReferenceOptions& options) {
  const Matrix a(args.a);
  const Matrix b(args.b);
  const Matrix out(args.out);
  const double of_a_row = static_cast<double>(out.batch * out.columns) *
                          static_cast<double>(a.columns + std::ssize(args.expression->graph().nodes));
  const std::vector<std::int64_t> rows = chosen_rows(out.rows, of_a_row, options);
  Reference reference;
  for (const expression::Output& output : args.expression->outputs())
    reference.outputs.push_back(expected_of(args, output, rows));
  const double error = relative_error(args, a.columns);
  const std::vector<Input> inputs = inputs_of(args);
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  for (std::int64_t entry = 0; entry < out.batch; ++entry) {
    const std::vector<double> values = values_of(b, entry);
    host::parallel_for(std::ssize(rows), threads, [&](int, std::int64_t i) {
      const std::int64_t row = rows[static_cast<std::size_t>(i)];
      const RowSums sums = row_sums(a, entry, row, values, out.columns, error);
      finish_row(args, inputs, sums, entry, row, entry * std::ssize(rows) + i, reference.outputs);
    });
  }
  return reference;
}

}  // namespace quarry::lab::gemm
