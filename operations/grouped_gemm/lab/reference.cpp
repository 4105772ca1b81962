#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/reference/epilogue.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/lab/products.hpp"
#include "operations/grouped_gemm/problem.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

using host::Matrix;
using host::read_element;

constexpr int block_k = 256;

/// The products of one group, for the rows of the output that the reference has.
class Products {
 public:
  Products(const GroupedGemmArguments& args, EpilogueReference& epilogue)
      : a_(args.a),
        b_(args.b),
        a_scales_(Scales::of_a(args.a_scale, args.a_scale_granularity)),
        b_scales_(Scales::of_b(args.b_scale, args.b_scale_granularity)),
        epilogue_(epilogue) {}

  /// Adds up products of some columns. @return ||A|| ||B|| squared, over the group's chosen rows and these
  /// columns, times the scale
  double add(const GroupProduct& group, std::int64_t column, int columns) const {
    const PlaceRange places = places_of(group, epilogue_.rows());
    if (group.k == 0 || places.begin == places.end) return 0;
    std::vector<double> b(static_cast<std::size_t>(std::min<std::int64_t>(block_k, group.k) * columns));
    std::vector<double> squares_a(places.end - places.begin);
    std::vector<double> squares_b(static_cast<std::size_t>(columns));
    for (std::int64_t k = 0; k < group.k; k += block_k) {
      const auto depth = static_cast<int>(std::min<std::int64_t>(block_k, group.k - k));
      read_b(group, k, depth, column, columns, b, squares_b);
      add_rows(group, places, k, depth, column, columns, b, squares_a);
    }
    note_squares(group, places, column, squares_a, squares_b);
    return std::accumulate(squares_a.begin(), squares_a.end(), 0.0) *
           std::accumulate(squares_b.begin(), squares_b.end(), 0.0) / static_cast<double>(group.k);
  }

 private:
  /// @param squares of the columns, to which theirs are added
  void read_b(const GroupProduct& group, std::int64_t k, int depth, std::int64_t column, int columns,
              std::vector<double>& b, std::vector<double>& squares) const {
    const void* const matrix = b_.first(group.b_entry);
    host::with_element(b_.type, [&]<class E>(E) {
      std::size_t next = 0;
      for (int i = 0; i < depth; ++i) {
        for (int j = 0; j < columns; ++j) {
          const double value = b_scales_.at(group.b_entry, k + i, column + j) *
                               read_element<E>(matrix, b_.index(group.b_k + k + i, column + j));
          const double scaled = value * epilogue_.column_scale(column + j);
          b[next++] = value;
          squares[static_cast<std::size_t>(j)] += scaled * scaled;
        }
      }
    });
  }

  /// @param places of the group's rows. @param squares of these rows, to which theirs are added
  void add_rows(const GroupProduct& group, const PlaceRange& places, std::int64_t k, int depth,
                std::int64_t column, int columns, const std::vector<double>& b,
                std::vector<double>& squares) const {
    const void* const matrix = a_.first(group.a_entry);
    host::with_element(a_.type, [&]<class E>(E) {
      for (std::size_t i = places.begin; i < places.end; ++i) {
        const std::int64_t row = epilogue_.rows()[i];
        const std::int64_t a_row = group.a_row + row - group.first_row;
        double* const sums = epilogue_.sums(group.out_entry, i, column);
        const double* from = b.data();
        for (int p = 0; p < depth; ++p) {
          const double value = a_scales_.at(group.a_entry, a_row, k + p) *
                               read_element<E>(matrix, a_.index(a_row, group.a_k + k + p));
          const double scaled = value * epilogue_.row_scale(row);
          squares[i - places.begin] += scaled * scaled;
          for (int j = 0; j < columns; ++j) sums[j] += value * *from++;
        }
      }
    });
  }

  /// The squares of each output's sum of products when their signs are random.
  void note_squares(const GroupProduct& group, const PlaceRange& places, std::int64_t column,
                    const std::vector<double>& rows, const std::vector<double>& columns) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double* const squares = epilogue_.squares(group.out_entry, places.begin + i, column);
      if (squares == nullptr) return;
      for (std::size_t j = 0; j < columns.size(); ++j)
        squares[j] = rows[i] * columns[j] / static_cast<double>(group.k);
    }
  }

  Matrix a_;
  Matrix b_;
  Scales a_scales_;  // there are none with ragged K
  Scales b_scales_;
  EpilogueReference& epilogue_;
};

}  // namespace

Reference Lab::reference(const GroupedGemmArguments& args, const ReferenceOptions& options) {
  if (args.expression) return reference_with_expression(args, options);
  GroupedGemmProblem problem;
  detail::grouped_gemm::describe(args, problem);
  const Matrix a(args.a);
  Reference reference;
  const double terms = static_cast<double>(a.columns) /
                       (problem.groups.form == GroupForm::ragged_k ? std::max(problem.groups.groups, 1) : 1);
  const DType accumulator = problem.gemm.types.accumulator;
  // Scaled sums are no whole numbers.
  const bool scaled_integers = is_integer(accumulator) && (args.a_scale || args.b_scale);
  const DType sums = scaled_integers ? DType::f32 : accumulator;
  EpilogueReference epilogue(args.out, args.c, args.epilogue, sums, terms, options, reference);
  if (epilogue.is_empty()) return reference;
  const std::vector<GroupProduct> groups = products_of(problem.groups, problem.gemm.m, problem.gemm.k);
  const Products products(args, epilogue);
  const std::int64_t strips = (epilogue.columns() + block_columns - 1) / block_columns;
  std::vector<double> squares(static_cast<std::size_t>(strips));
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  host::parallel_for(strips, threads, [&](int, std::int64_t i) {
    const std::int64_t first = i * block_columns;
    const auto columns = static_cast<int>(std::min<std::int64_t>(block_columns, epilogue.columns() - first));
    if (problem.gemm.k > 0) {
      for (const GroupProduct& group : groups)
        squares[static_cast<std::size_t>(i)] += products.add(group, first, columns);
    }
    for (std::int64_t entry = 0; entry < epilogue.batch(); ++entry) epilogue.finish(entry, first, columns);
  });
  double sum = 0;
  for (const double s : squares) sum += s;
  epilogue.set_scale(std::sqrt(sum));
  for (Expected& expected : reference.outputs) {
    const bool is_out = expected.name == Operand::out;
    set_outside(is_out ? args.out : *args.epilogue.aux, is_out && args.zero_outside, groups, expected);
  }
  return reference;
}

}  // namespace quarry::lab::grouped_gemm
