#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/reference/epilogue.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/gemm/lab/expression_reference.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "operations/gemm/lab/scales.hpp"
#include "operations/gemm/scales.hpp"

namespace quarry::lab::gemm {
namespace {

using host::Matrix;
using host::read_element;

/// A worker computes some columns at a time, over so much of K, four rows at once.
constexpr int block_k = 512;
constexpr int block_rows = 4;
static_assert(block_k % scale_block == 0 && scale_block % least_scale_group == 0);

/// The part of the reference that one worker computes at a time: all chosen rows of some columns of one batch
/// entry.
struct Strip {
  std::int64_t entry;
  std::int64_t column;
  int columns;
};

class Product {
 public:
  Product(const GemmArguments& arguments, EpilogueReference& epilogue)
      : a_(arguments.a),
        b_(arguments.b),
        a_scales_(Scales::of_a(arguments.a_scale, arguments.a_scale_granularity)),
        b_scales_(Scales::of_b(arguments.b_scale, arguments.b_scale_granularity)),
        b_zeros_(Scales::zeros_of_b(arguments.b_zero, arguments.b_scale_granularity)),
        epilogue_(epilogue) {}

  /// Adds up products and finishes a strip. @return ||A|| ||B|| squared, over its rows and columns
  /// @param b block_k * block_columns doubles of the caller's
  double run(const Strip& strip, double* b) const {
    std::vector<double> squares_a(epilogue_.rows().size());
    double squares_b[block_columns] = {};
    for (std::int64_t k = 0; k < a_.columns; k += block_k) {
      const int depth = static_cast<int>(std::min<std::int64_t>(block_k, a_.columns - k));
      read_b(strip, k, depth, b, squares_b);
      for (std::size_t row = 0; row < epilogue_.rows().size(); row += block_rows)
        add_rows(strip, row, k, depth, b, squares_a.data() + row);
    }
    if (a_.columns > 0) note_squares(strip, squares_a, squares_b);
    epilogue_.finish(strip.entry, strip.column, strip.columns);
    return std::accumulate(squares_a.begin(), squares_a.end(), 0.0) *
           std::accumulate(squares_b, squares_b + block_columns, 0.0);
  }

 private:
  /// Reads `depth` rows of B from `k` on, less their zero points, times their scales, block_columns doubles
  /// each.
  /// @param squares of the columns, to which theirs are added
  void read_b(const Strip& strip, std::int64_t k, int depth, double* b, double* squares) const {
    double scales[block_columns] = {};
    double zeros[block_columns] = {};
    const void* const first = b_.first(strip.entry);
    host::with_element(b_.type, [&]<class E>(E) {
      for (int i = 0; i < depth; ++i) {
        if (i % least_scale_group == 0) {
          for (int j = 0; j < strip.columns; ++j) {
            scales[j] = b_scales_.at(strip.entry, k + i, strip.column + j);
            zeros[j] = b_zeros_.at(strip.entry, k + i, strip.column + j);
          }
        }
        for (int j = 0; j < block_columns; ++j) {
          const double stored =
              j < strip.columns ? read_element<E>(first, b_.index(k + i, strip.column + j)) : 0.0;
          const double value = scales[j] * (stored - zeros[j]);
          b[i * block_columns + j] = value;
          const double scaled = value * (j < strip.columns ? epilogue_.column_scale(strip.column + j) : 0);
          squares[j] += scaled * scaled;
        }
      }
    });
  }

  /// Adds the products of up to block_rows chosen rows of A, times their scales, with the rows of B.
  /// @param squares of these rows, to which theirs are added
  void add_rows(const Strip& strip, std::size_t first, std::int64_t k, int depth, const double* b,
                double* squares) const {
    const std::vector<std::int64_t>& chosen = epilogue_.rows();
    const int rows = static_cast<int>(std::min<std::size_t>(block_rows, chosen.size() - first));
    double sums[block_rows][block_columns] = {};
    double scales[block_rows] = {};
    const void* const matrix = a_.first(strip.entry);
    host::with_element(a_.type, [&]<class E>(E) {
      for (int i = 0; i < depth; ++i) {
        for (int r = 0; r < rows; ++r) {
          const std::int64_t row = chosen[first + static_cast<std::size_t>(r)];
          if (i % least_scale_group == 0) scales[r] = a_scales_.at(strip.entry, row, k + i);
          const double value = scales[r] * read_element<E>(matrix, a_.index(row, k + i));
          const double scaled = value * epilogue_.row_scale(row);
          squares[r] += scaled * scaled;
          for (int j = 0; j < block_columns; ++j) sums[r][j] += value * b[i * block_columns + j];
        }
      }
    });
    for (int r = 0; r < rows; ++r) {
      double* const row = epilogue_.sums(strip.entry, first + static_cast<std::size_t>(r), strip.column);
      for (int j = 0; j < strip.columns; ++j) row[j] += sums[r][j];
    }
  }

  /// The squares of each output's sum of products when their signs are random.
  void note_squares(const Strip& strip, const std::vector<double>& rows, const double* columns) const {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      double* const squares = epilogue_.squares(strip.entry, row, strip.column);
      if (squares == nullptr) return;
      for (int j = 0; j < strip.columns; ++j)
        squares[j] = rows[row] * columns[j] / static_cast<double>(a_.columns);
    }
  }

  Matrix a_;
  Matrix b_;
  Scales a_scales_;
  Scales b_scales_;
  Scales b_zeros_;
  EpilogueReference& epilogue_;
};

}  // namespace

Reference Lab::reference(const GemmArguments& args, const ReferenceOptions& options) {
  if (args.expression) return reference_with_expression(args, options);
  const std::int64_t k = Matrix(args.a).columns;
  const DType accumulator = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  // Scaled sums are no whole numbers.
  const bool scaled_integers = is_integer(accumulator) && detail::has_scales(args);
  const DType sums = scaled_integers ? DType::f32 : accumulator;
  Reference reference;
  EpilogueReference epilogue(args.out, args.c, args.epilogue, sums, static_cast<double>(k), options,
                             reference);
  if (epilogue.is_empty()) return reference;

  const Product product(args, epilogue);
  const std::int64_t strips = (epilogue.columns() + block_columns - 1) / block_columns;
  std::vector<double> squares(static_cast<std::size_t>(epilogue.batch() * strips));
  const int threads = options.threads > 0 ? options.threads : host::default_threads();
  constexpr std::size_t panel = std::size_t{block_k} * block_columns;
  std::vector<double> panels(static_cast<std::size_t>(threads) * panel);
  host::parallel_for(epilogue.batch() * strips, threads, [&](int worker, std::int64_t i) {
    const std::int64_t column = i % strips * block_columns;
    const auto columns = static_cast<int>(std::min<std::int64_t>(block_columns, epilogue.columns() - column));
    squares[static_cast<std::size_t>(i)] =
        product.run({i / strips, column, columns}, &panels[static_cast<std::size_t>(worker) * panel]);
  });
  double sum = 0;
  for (const double s : squares) sum += s;
  // The norms of A and B are taken over each batch entry, with the scale in them.
  epilogue.set_scale(k > 0 ? std::sqrt(sum / static_cast<double>(k)) : 0);
  return reference;
}

}  // namespace quarry::lab::gemm
