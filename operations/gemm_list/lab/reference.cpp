#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "common/config_parts.hpp"
#include "lab/expression/reference.hpp"
#include "lab/reference/norm.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/lab/expression_reference.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "operations/gemm/scales.hpp"
#include "operations/gemm_list/lab/expression.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "operations/gemm_list/problem.hpp"

namespace quarry::lab::gemm_list {
namespace {

using host::Matrix;

/// What is in an output now.
void read_now(const TensorView& view, Expected& expected) {
  const Matrix now(view);
  double* next = expected.values.data();
  for (std::int64_t entry = 0; entry < expected.matrices; ++entry) {
    for (const std::int64_t row : expected.rows) {
      for (std::int64_t column = 0; column < expected.columns; ++column)
        *next++ = host::read_element(now.type, now.first(entry), now.index(row, column));
    }
  }
}

/// Consecutive rows of a problem that the reference has.
struct RowRun {
  std::int64_t first;
  std::int64_t count;
};

/// The runs of chosen rows before row `end`.
std::vector<RowRun> runs_of(const std::vector<std::int64_t>& rows, std::int64_t end) {
  std::vector<RowRun> runs;
  for (const std::int64_t row : rows) {
    if (row >= end) break;
    if (!runs.empty() && runs.back().first + runs.back().count == row) {
      ++runs.back().count;
    } else {
      runs.push_back({row, 1});
    }
  }
  return runs;
}

/// One problem of the list: a GEMM of its own, and where its outputs are among the outputs of the list.
class ListedProblem {
 public:
  ListedProblem(const GemmListArguments& args, const GemmListProblem& list, int number)
      : args_(args), list_(list), number_(number) {
    GemmListParams params = {};
    GemmParams& gemm = params.gemm;
    gemm.a = list.gemm.a.matrix;
    gemm.b = list.gemm.b.matrix;
    gemm.c = list.gemm.c.matrix;
    gemm.out = list.gemm.out.matrix;
    gemm.m = list.gemm.m;
    gemm.n = list.gemm.n;
    gemm.k = list.gemm.k;
    params.list = list.list;
    const int* const sizes = list.list.sizes + static_cast<std::int64_t>(number) * list_extents;
    own_ = in_units(clamped_extents(gemm, {sizes[0], sizes[1], sizes[2]}), least_unit(list));
    const ListExtents of_output = list.gemm.wide.gated ? with_half_columns(own_) : own_;
    columns_ = of_output.n;
    gemm_ = gemm;
    if (!list.has_leading) return;
    const int* const row = list.list.leading + static_cast<std::int64_t>(number) * list_matrices;
    gemm_ = outputs_with_leading(params.gemm, params.list, of_output, row[2], row[3]);
    const ListOperands operands =
        operands_with_leading(params.gemm, params.list, own_, row[0], row[1], {1, 1});
    gemm_.a = operands.a;
    gemm_.b = operands.b;
  }

  const ListExtents& own() const { return own_; }

  /// Some of its rows as a GEMM.
  GemmArguments arguments(const RowRun& run) const {
    const Types& types = list_.gemm.types;
    const EpilogueParams& params = list_.gemm.epilogue;
    GemmArguments gemm;
    gemm.a = part(gemm_.a, types.a, run.first, run.count, own_.k);
    gemm.b = part(gemm_.b, types.b, 0, own_.k, own_.n);
    gemm.out = part(gemm_.out, types.out, run.first, run.count, columns_);
    if (args_.c && list_.gemm.has_c) gemm.c = part(gemm_.c, types.out, run.first, run.count, own_.n);
    const OperandScales& scales = list_.gemm.scales;
    gemm.a_scale = part(scales.a, Operand::a_scale, run.first, {run.count, own_.k});
    gemm.a_scale_granularity = args_.a_scale_granularity;
    gemm.b_scale = part(scales.b, Operand::b_scale, 0, {own_.k, own_.n});
    gemm.b_scale_granularity = args_.b_scale_granularity;
    gemm.accumulator = args_.accumulator;
    if (args_.expression) {
      gemm.expression = args_.expression;
      gemm.tensors = tensors_of(args_, number_, run.first, run.count, columns_);
      return gemm;
    }
    Epilogue& e = gemm.epilogue = args_.epilogue;
    if (e.bias) e.bias = part(*e.bias, e.bias_axis, run);
    if (e.scale && e.scale->extents[0] > 1) e.scale = part(*e.scale, e.scale_axis, run);
    if (e.residual) e.residual = part(params.residual, types.out, run.first, run.count, own_.n);
    if (e.aux) e.aux = part(params.aux, types.out, run.first, run.count, own_.n);
    return gemm;
  }

  /// Which element of the view of `out` one of the problem is: they share memory.
  std::pair<std::int64_t, std::int64_t> place_of(std::int64_t row, std::int64_t column) const {
    if (!list_.has_leading) return {row, column};
    const MatrixParams& view = list_.gemm.out.matrix;
    const std::int64_t at = row * gemm_.out.row_stride + column * gemm_.out.column_stride;
    // The stride from one line to the next says nothing where the view has one line: it may be 1.
    if (is_by_columns(list_.list, ListMatrix::out)) {
      if (args_.out.extents[2] == 1) return {at, 0};
      return {at % view.column_stride, at / view.column_stride};
    }
    if (list_.gemm.m == 1) return {0, at};
    return {at / view.row_stride, at % view.row_stride};
  }

 private:
  /// Rows of this problem's matrix.
  TensorView part(const MatrixParams& matrix, DType type, std::int64_t row, std::int64_t rows,
                  std::int64_t columns) const {
    const std::array<std::int64_t, 2> extents = {rows, columns};
    const std::array<std::int64_t, 2> strides = {matrix.row_stride, matrix.column_stride};
    const bool is_touched = rows > 0 && columns > 0;
    const void* const first = is_touched ? host::first_of(matrix, number_, bits_of(type)) : nullptr;
    const char* const data = static_cast<const char*>(first) + row * matrix.row_stride * bytes_of(type);
    return TensorView::strided(is_touched ? data : nullptr, type, extents, strides);
  }

  /// The scales of its B, or of rows of its A from this one on. @param of extents of these
  std::optional<TensorView> part(const OperandScale& scale, Operand name, std::int64_t row,
                                 const detail::MatrixExtents& of) const {
    if (!scale.is_given) return std::nullopt;
    const bool of_a = name == Operand::a_scale;
    const detail::MatrixExtents extents = detail::scale_extents(name, scale.granularity, of);
    const MatrixParams values = {scale.data, of_a ? scale.line_stride : scale.k_stride,
                                 of_a ? scale.k_stride : scale.line_stride, scale.batch_stride};
    return part(values, DType::f32, row, extents.rows, extents.columns);
  }

  /// The values of a vector that these rows, or the problem's columns, have.
  TensorView part(const TensorView& vector, BiasAxis axis, const RowRun& run) const {
    const bool by_row = axis == BiasAxis::row;
    const char* const data = static_cast<const char*>(vector.data);
    return TensorView::vector(data + (by_row ? run.first * bytes_of(vector.dtype) : 0), vector.dtype,
                              by_row ? run.count : own_.n);
  }

  const GemmListArguments& args_;
  const GemmListProblem& list_;
  int number_;
  ListExtents own_ = {};
  int columns_ = 0;  ///< of the output
  GemmParams gemm_ = {};
};

/// Takes over what the reference of some rows of a problem has of one output.
/// @param place_of (row, column) of the problem -> (row, column) of the view
template <class PlaceOf>
void put(const Expected& values, int number, std::int64_t first_row, const PlaceOf& place_of,
         Expected& expected) {
  expected.clamp = values.clamp;
  for (const auto member : {&Expected::radii, &Expected::unclamped, &Expected::magnitudes})
    if (!(values.*member).empty()) (expected.*member).resize(expected.values.size());
  std::size_t next = 0;
  for (std::int64_t i = 0; i < std::ssize(values.rows); ++i) {
    for (std::int64_t column = 0; column < values.columns; ++column, ++next) {
      const auto [row, at] = place_of(first_row + i, column);
      const auto chosen = std::ranges::lower_bound(expected.rows, row) - expected.rows.begin();
      const std::int64_t line = number * std::ssize(expected.rows) + chosen;
      const auto place = static_cast<std::size_t>(line * expected.columns + at);
      for (const auto member :
           {&Expected::values, &Expected::radii, &Expected::unclamped, &Expected::magnitudes})
        if (!(values.*member).empty()) (expected.*member)[place] = (values.*member)[next];
    }
  }
}

/// The rows that the reference has: all where rows of problems are not the views' rows.
std::vector<std::int64_t> rows_of(const GemmListProblem& problem, const ReferenceOptions& options) {
  double multiplications = 0;
  for (int i = 0; i < problem.gemm.batch; ++i) {
    const int* const sizes = problem.list.sizes + static_cast<std::int64_t>(i) * list_extents;
    multiplications += std::max(0.0, static_cast<double>(std::min(sizes[1], problem.gemm.n))) *
                       std::max(0.0, static_cast<double>(std::min(sizes[2], problem.gemm.k)));
  }
  return chosen_rows(problem.gemm.m, multiplications, problem.has_leading ? ReferenceOptions{} : options);
}

/// An output of the list, and its view.
struct ListOutput {
  Operand name;
  const TensorView* view;
};

/// The outputs, in the order in which the reference of a GEMM has them.
std::vector<ListOutput> outputs_of(const GemmListArguments& args) {
  std::vector<ListOutput> outputs;
  if (!args.expression) {
    outputs = {{Operand::out, &args.out}};
    if (args.epilogue.aux) outputs.push_back({Operand::aux, &*args.epilogue.aux});
    return outputs;
  }
  for (const expression::Output& output : args.expression->outputs()) {
    const ExpressionTensor* const tensor = detail::find_tensor(args.tensors, output.tensor.name);
    if (tensor == nullptr) {
      outputs.push_back({Operand::out, &args.out});
    } else {
      outputs.push_back({tensor_operand(static_cast<int>(tensor - args.tensors.data())), &tensor->view});
    }
  }
  return outputs;
}

/// Takes over an output's values of a problem with reductions of lines.
void put_values(const expression::Output& output, const ExpectedOutput& values, const ListedProblem& problem,
                int number, Expected& expected) {
  using Extent = expression::Extent;
  const std::int64_t rows = values.extents[2], columns = values.extents[3];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      std::int64_t at = number * expected.columns + (output.extent == Extent::row ? row : column);
      if (output.extent == Extent::element || output.extent == Extent::group) {
        const bool is_out = expected.name == Operand::out;
        const auto place = is_out ? problem.place_of(row, column) : std::pair(row, column);
        at = (number * expected.all_rows + place.first) * expected.columns + place.second;
      }
      const Bounded& value = values.values[static_cast<std::size_t>(row * columns + column)];
      expected.values[static_cast<std::size_t>(at)] = value.value;
      expected.radii[static_cast<std::size_t>(at)] = value.radius;
    }
  }
}

/// With reductions of lines all elements count.
Reference reference_of_lines(const GemmListArguments& args, const GemmListProblem& list, int threads) {
  std::vector<ListedProblem> problems;
  std::vector<GemmArguments> products;
  for (int number = 0; number < list.gemm.batch; ++number) {
    problems.emplace_back(args, list, number);
    products.push_back(problems.back().arguments({0, problems.back().own().m}));
  }
  GemmArguments all;
  all.out = args.out;
  all.expression = args.expression;
  all.tensors = args.tensors;
  const ReferenceOfParts values = gemm::reference_of_problems(products, all, threads);
  Reference reference;
  std::size_t i = 0;
  for (const auto& [name, view] : outputs_of(args)) {
    const expression::Output& output = args.expression->outputs()[i];
    Expected& expected = reference.outputs.emplace_back(bounded_output(name, *view, all_rows(*view)));
    read_now(*view, expected);
    if (output.extent == expression::Extent::all) {
      put_line(values.all[i], 0, expected);
    } else {
      for (std::size_t number = 0; number < problems.size(); ++number)
        put_values(output, values.parts[number][i], problems[number], static_cast<int>(number), expected);
    }
    ++i;
  }
  return reference;
}

}  // namespace

Reference Lab::reference(const GemmListArguments& args, const ReferenceOptions& options) {
  GemmListProblem list;
  detail::gemm_list::describe(args, list);
  if (list.gemm.wide.has_lines())
    return reference_of_lines(args, list, options.threads > 0 ? options.threads : host::default_threads());
  const std::vector<std::int64_t> rows = rows_of(list, options);
  Reference reference;
  for (const auto& [name, view] : outputs_of(args)) {
    Expected& expected = reference.outputs.emplace_back(args.expression ? bounded_output(name, *view, rows)
                                                                        : expected_output(name, *view, rows));
    read_now(*view, expected);
  }
  if (reference.outputs[0].values.empty()) return reference;
  Norm scales;
  for (int number = 0; number < list.gemm.batch; ++number) {
    const ListedProblem problem(args, list, number);
    if (problem.own().n == 0) continue;
    for (const RowRun& run : runs_of(rows, problem.own().m)) {
      const Reference part = gemm::Lab::reference(problem.arguments(run), {.threads = options.threads});
      scales.add(part.outputs[0].scale);
      for (std::size_t i = 0; i < part.outputs.size(); ++i) {
        const bool is_out = part.outputs[i].name == Operand::out;
        put(
            part.outputs[i], number, run.first,
            [&](std::int64_t row, std::int64_t column) {
              return is_out ? problem.place_of(row, column) : std::pair(row, column);
            },
            reference.outputs[i]);
      }
    }
  }
  for (Expected& expected : reference.outputs) expected.scale = scales.finite_value();
  return reference;
}

}  // namespace quarry::lab::gemm_list
