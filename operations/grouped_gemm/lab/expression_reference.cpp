// What a grouped GEMM with an expression should give.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lab/expression/reference.hpp"
#include "operations/common/expression/rough.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/lab/expression_reference.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/products.hpp"
#include "operations/grouped_gemm/problem.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

using host::HostOperand;
using host::Matrix;

/// A row of sums, and how far the sums of an output may be off: the farther one of a gated pair.
struct RowSums {
  std::vector<double> sums;
  std::vector<double> radii;
  std::int64_t outputs;

  host::PartSums part(std::int64_t column) const {
    const double* const sum = sums.data() + column;
    const bool is_pair = std::ssize(sums) > outputs;
    return {.sum = sum, .up = is_pair ? sum + outputs : nullptr, .radius = radii.data() + column};
  }
};

/// The rows of B that a group multiplies, one after another.
std::vector<double> rows_of_b(const Matrix& b, const GroupProduct& group) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(group.k * b.columns));
  for (std::int64_t k = 0; k < group.k; ++k) {
    for (std::int64_t n = 0; n < b.columns; ++n)
      values.push_back(host::read_element(b.type, b.first(group.b_entry), b.index(group.b_k + k, n)));
  }
  return values;
}

RowSums row_sums(const Matrix& a, const GroupProduct& group, std::int64_t row, const std::vector<double>& b,
                 std::int64_t columns, std::int64_t outputs, double error) {
  const auto count = static_cast<std::size_t>(columns);
  RowSums result = {std::vector<double>(count), std::vector<double>(count), outputs};
  for (std::int64_t k = 0; k < group.k; ++k) {
    const double factor = host::read_element(a.type, a.first(group.a_entry),
                                             a.index(group.a_row + row - group.first_row, group.a_k + k));
    const double* const from = b.data() + k * columns;
    for (std::size_t n = 0; n < count; ++n) {
      result.sums[n] += factor * from[n];
      result.radii[n] += std::abs(factor * from[n]);
    }
  }
  for (double& radius : result.radii) radius = std::isfinite(radius) ? radius * error : 0;
  for (auto n = static_cast<std::size_t>(outputs); n < count; ++n) {
    double& of_output = result.radii[n - static_cast<std::size_t>(outputs)];
    of_output = std::max(of_output, result.radii[n]);
  }
  return result;
}

/// The extents that an input may have: with contiguous groups, vectors of columns and tables are a batch of
/// groups.
std::array<std::int64_t, 4> extents_for(const GroupedGemmArguments& args, const expression::Tensor& input) {
  std::array<std::int64_t, 4> extents = {1, 1, 1, 1};
  for (std::size_t i = 0; i < args.out.rank; ++i) extents[4U - args.out.rank + i] = args.out.extents[i];
  const bool is_contiguous = args.out.rank == 2;
  const bool lacks_rows =
      input.shape == expression::Shape::per_column || input.shape == expression::Shape::gathered;
  if (is_contiguous && lacks_rows) extents[1] = args.b.extents[0];
  return extents;
}

/// An input's part for the rows of a group from one on.
HostOperand part_of(const GroupedGemmArguments& args, const expression::Tensor& declared, std::int64_t group,
                    std::int64_t row) {
  const ExpressionTensor& tensor = *detail::find_tensor(args.tensors, declared.name);
  HostOperand part = {.type = declared.dtype};
  if (tensor.view.dtype == DType::none) {
    (void)detail::put_value(tensor, declared.dtype, part.value);
    return part;
  }
  std::array<long long, 4> strides = {};
  (void)detail::put_strides(tensor, *declared.shape, false, extents_for(args, declared), strides);
  const bool is_table = declared.shape == expression::Shape::gathered;  // whose rows an index says
  const std::int64_t first = group * strides[1] + (is_table ? 0 : row * strides[2]);
  part.data = static_cast<char*>(const_cast<void*>(tensor.view.data)) + first * bytes_of(tensor.view.dtype);
  part.strides = {0, 0, strides[2], strides[3]};
  if (is_table) part.rows = detail::rows_of(tensor.view);
  return part;
}

std::vector<HostOperand> parts_of(const GroupedGemmArguments& args, std::int64_t group, std::int64_t row) {
  std::vector<HostOperand> inputs;
  for (const expression::Tensor& input : args.expression->inputs())
    inputs.push_back(part_of(args, input, group, row));
  return inputs;
}

/// Computes the outputs of a row. @param line its number in what is expected
void finish_row(const GroupedGemmArguments& args, const RowSums& sums, std::int64_t group, std::int64_t row,
                std::int64_t line, std::vector<Expected>& outputs) {
  const std::vector<HostOperand> inputs = parts_of(args, group, row);
  const std::vector<ExpectedOutput> values = expression_reference(
      *args.expression, {1, 1, 1, sums.outputs}, inputs,
      [](const void* context, const host::ElementPlace& place) {
        return static_cast<const RowSums*>(context)->part(place[3]);
      },
      &sums, detail::rough_nodes(args.expression->graph(), args.out.dtype));
  for (std::size_t i = 0; i < outputs.size(); ++i) put_line(values[i], line, outputs[i]);
}

const TensorView& view_of_output(const GroupedGemmArguments& args, const expression::Output& output) {
  const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name);
  return tensor == nullptr ? args.out : tensor->view;
}

/// An output without values yet.
Expected expected_of(const GroupedGemmArguments& args, const expression::Output& output,
                     const std::vector<std::int64_t>& rows) {
  const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name);
  const Operand name =
      tensor == nullptr ? Operand::out : tensor_operand(static_cast<int>(tensor - args.tensors.data()));
  return bounded_output(name, view_of_output(args, output), rows);
}

/// The sums of a group, row by row.
using GroupSums = std::vector<RowSums>;

/// All sums of the groups of a problem.
std::vector<GroupSums> all_sums(const GroupedGemmArguments& args, const GroupedGemmProblem& problem,
                                const std::vector<GroupProduct>& groups, int threads) {
  const Matrix a(args.a);
  const Matrix b(args.b);
  const std::int64_t outputs = Matrix(args.out).columns;
  const double error = gemm::sum_error(problem.gemm.types, Math::exact, a.columns);
  std::vector<GroupSums> all;
  for (const GroupProduct& group : groups) {
    const std::vector<double> values = rows_of_b(b, group);
    all.emplace_back(static_cast<std::size_t>(group.rows));
    host::parallel_for(group.rows, threads, [&](int, std::int64_t row) {
      all.back()[static_cast<std::size_t>(row)] =
          row_sums(a, group, group.first_row + row, values, b.columns, outputs, error);
    });
  }
  return all;
}

/// Where the values of a group begin in an output's values, one after another.
std::int64_t first_value(const expression::Output& output, const GroupProduct& group,
                         const ExpectedOutput& values, std::int64_t rows) {
  using Extent = expression::Extent;
  if (output.extent == Extent::column) return group.span.group * values.extents[3];
  return (group.out_entry * rows + group.first_row) * values.extents[3];
}

void put_values(const ExpectedOutput& values, std::int64_t first, Expected& expected) {
  auto at = static_cast<std::size_t>(first);
  for (const Bounded& value : values.values) {
    expected.values[at] = value.value;
    expected.radii[at++] = value.radius;
  }
}

/// An output with what is there now.
Expected kept_output(const GroupedGemmArguments& args, const expression::Output& output) {
  const TensorView& view = view_of_output(args, output);
  Expected expected = expected_of(args, output, all_rows(view));
  set_outside(view, false, {}, expected);
  return expected;
}

/// With reductions of lines all elements count.
Reference reference_of_lines(const GroupedGemmArguments& args, const GroupedGemmProblem& problem,
                             int threads) {
  const std::vector<GroupProduct> groups = products_of(problem.groups, problem.gemm.m, problem.gemm.k);
  const std::vector<GroupSums> sums = all_sums(args, problem, groups, threads);
  const Matrix out(args.out);
  std::vector<ReferencePart> parts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    parts.push_back({{1, 1, groups[i].rows, out.columns},
                     parts_of(args, groups[i].span.group, groups[i].first_row),
                     &sums[i]});
  }
  const ReferenceOfParts values = expression_reference_of(
      *args.expression, parts, parts_of(args, 0, 0),
      [](const void* context, const host::ElementPlace& place) {
        const GroupSums& rows = *static_cast<const GroupSums*>(context);
        return rows[static_cast<std::size_t>(place[2])].part(place[3]);
      },
      detail::rough_nodes(args.expression->graph(), args.out.dtype));
  Reference reference;
  for (std::size_t i = 0; i < args.expression->outputs().size(); ++i) {
    const expression::Output& output = args.expression->outputs()[i];
    Expected expected = kept_output(args, output);
    if (output.extent == expression::Extent::all) {
      put_values(values.all[i], 0, expected);
    } else {
      for (std::size_t g = 0; g < groups.size(); ++g)
        put_values(values.parts[g][i], first_value(output, groups[g], values.parts[g][i], out.rows),
                   expected);
    }
    if (expected.name == Operand::out && args.zero_outside) set_outside(args.out, true, groups, expected);
    reference.outputs.push_back(std::move(expected));
  }
  return reference;
}

}  // namespace

Reference reference_with_expression(const GroupedGemmArguments& args, const ReferenceOptions& options) {
  GroupedGemmProblem problem;
  detail::grouped_gemm::describe(args, problem);
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  if (problem.gemm.wide.has_lines()) return reference_of_lines(args, problem, threads);
  const Matrix a(args.a);
  const Matrix b(args.b);
  const Matrix out(args.out);
  const std::int64_t of_an_element =
      a.columns * (b.columns > out.columns ? 2 : 1) + node_cost * std::ssize(args.expression->graph().nodes);
  const double of_a_row = static_cast<double>(out.batch * out.columns) * static_cast<double>(of_an_element);
  const std::vector<std::int64_t> rows = chosen_rows(out.rows, of_a_row, options);
  Reference reference;
  for (const expression::Output& output : args.expression->outputs())
    reference.outputs.push_back(expected_of(args, output, rows));
  const double error = gemm::sum_error(problem.gemm.types, Math::exact, a.columns);
  const std::vector<GroupProduct> groups = products_of(problem.groups, problem.gemm.m, problem.gemm.k);
  for (const GroupProduct& group : groups) {
    const PlaceRange places = places_of(group, rows);
    if (places.begin == places.end) continue;
    const std::vector<double> values = rows_of_b(b, group);
    host::parallel_for(static_cast<std::int64_t>(places.end - places.begin), threads,
                       [&](int, std::int64_t n) {
                         const std::int64_t i = static_cast<std::int64_t>(places.begin) + n;
                         const std::int64_t row = rows[static_cast<std::size_t>(i)];
                         const RowSums sums = row_sums(a, group, row, values, b.columns, out.columns, error);
                         finish_row(args, sums, group.span.group, row, group.out_entry * std::ssize(rows) + i,
                                    reference.outputs);
                       });
  }
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
    Expected& expected = reference.outputs[i];
    const TensorView& view = view_of_output(args, args.expression->outputs()[i]);
    set_outside(view, args.zero_outside && expected.name == Operand::out, groups, expected);
  }
  return reference;
}

}  // namespace quarry::lab::grouped_gemm
