#include "lab/reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "common/config_parts.hpp"
#include "operations/common/host/activation.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/reduce_split_k/problem.hpp"

namespace quarry::host {
namespace {

/// A worker computes so many columns at a time, over so much of K, four rows at once.
constexpr int block_columns = 64;
constexpr int block_k = 512;
constexpr int block_rows = 4;

/// The rows to compute: all, or as many as the limit allows (but no fewer than 4), the first and the last
/// among them.
std::vector<std::int64_t> chosen_rows(std::int64_t rows, double multiplications_a_row, double limit) {
  std::int64_t count = rows;
  if (static_cast<double>(rows) * multiplications_a_row > limit) {
    count = std::clamp(static_cast<std::int64_t>(limit / multiplications_a_row),
                       std::min<std::int64_t>(4, rows), rows);
  }
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    chosen[static_cast<std::size_t>(i)] = count == 1 ? 0 : i * (rows - 1) / (count - 1);
  }
  return chosen;
}

/// A sum of s32 as it wraps. @pre it is a whole number below 2^53, as sums of bytes' products are
std::int32_t wrapped(double sum) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
}

/// The part of the reference that one worker computes at a time: all chosen rows of some columns of one batch
/// entry.
struct Strip {
  std::int64_t entry;
  std::int64_t column;
  int columns;
};

class Computation {
 public:
  Computation(const GemmArguments& arguments, Reference& reference)
      : arguments_(arguments), a_(arguments.a), b_(arguments.b), reference_(reference) {
    const DType accumulator = arguments.accumulator.value_or(default_accumulator(a_.type, b_.type));
    sums_wrap_ = is_integer(accumulator);
    compute_ = compute_type(accumulator, arguments.out.dtype);
    alpha_ = scalar(arguments.epilogue.alpha);
    beta_ = scalar(arguments.epilogue.beta);
    if (const auto& scale = arguments.epilogue.scale) {
      const bool varies = scale->extents[0] > 1;
      const bool by_row = arguments.epilogue.scale_axis == BiasAxis::row;
      scale_row_stride_ = varies && by_row ? 1 : 0;
      scale_column_stride_ = varies && !by_row ? 1 : 0;
    }
  }

  double alpha() const { return alpha_; }
  double beta() const { return beta_; }

  /// Adds up products and finishes a strip. @return ||A|| ||B|| squared, over its rows and columns
  /// @param b block_k * block_columns doubles of the caller's
  double run(const Strip& strip, double* b) const {
    double squares_a = 0;
    double squares_b = 0;
    for (std::int64_t k = 0; k < a_.columns; k += block_k) {
      const int depth = static_cast<int>(std::min<std::int64_t>(block_k, a_.columns - k));
      squares_b += read_b(strip, k, depth, b);
      for (std::size_t row = 0; row < reference_.rows.size(); row += block_rows) {
        squares_a += add_rows(strip, row, k, depth, b);
      }
    }
    finish(strip);
    return squares_a * squares_b;
  }

  /// Adds up partial sums, packed slices, and finishes a strip. @return their sum of squares, scaled
  double reduce(const Strip& strip, const TensorView& partials) const {
    const std::int64_t slices = partials.extents[0];
    const std::int64_t rows = arguments_.out.extents[arguments_.out.rank - 2U];
    double squares = 0;
    with_element(partials.dtype, [&]<class E>(E) {
      for (std::size_t i = 0; i < reference_.rows.size(); ++i) {
        const std::int64_t row = reference_.rows[i];
        double* const sums = values(strip, i);
        for (std::int64_t slice = 0; slice < slices; ++slice) {
          const std::int64_t line = (slice * reference_.batch + strip.entry) * rows + row;
          for (int j = 0; j < strip.columns; ++j) {
            const std::int64_t column = strip.column + j;
            const double value = read_element<E>(partials.data, line * reference_.columns + column);
            const double scaled = value * scale_at(row, column);
            sums[j] += value;
            squares += scaled * scaled;
          }
        }
      }
    });
    finish(strip);
    return squares;
  }

 private:
  double scalar(const Scalar& s) const {
    return s.pointer == nullptr ? s.value : read_element(compute_, s.pointer, 0);
  }

  /// Where the values of a chosen row of a strip begin.
  std::size_t first_of(const Strip& strip, std::size_t row) const {
    const auto rows = static_cast<std::int64_t>(reference_.rows.size());
    return static_cast<std::size_t>(
        (strip.entry * rows + static_cast<std::int64_t>(row)) * reference_.columns + strip.column);
  }
  double* values(const Strip& strip, std::size_t row) const {
    return &reference_.values[first_of(strip, row)];
  }

  /// The scale of an output, 1 where there is none; its factors of a row alone and of a column alone (one for
  /// all counts as one of rows).
  double scale_at(std::int64_t row, std::int64_t column) const {
    const auto& scale = arguments_.epilogue.scale;
    if (!scale) return 1;
    return read_element(compute_, scale->data, row * scale_row_stride_ + column * scale_column_stride_);
  }
  double row_scale(std::int64_t row) const { return scale_column_stride_ != 0 ? 1 : scale_at(row, 0); }
  double column_scale(std::int64_t column) const {
    return scale_column_stride_ != 0 ? scale_at(0, column) : 1;
  }

  /// Reads `depth` rows of B from `k` on, block_columns doubles each. @return their sum of squares
  double read_b(const Strip& strip, std::int64_t k, int depth, double* b) const {
    double squares = 0;
    const void* const first = b_.first(strip.entry);
    with_element(b_.type, [&]<class E>(E) {
      for (int i = 0; i < depth; ++i) {
        for (int j = 0; j < block_columns; ++j) {
          const double value =
              j < strip.columns ? read_element<E>(first, b_.index(k + i, strip.column + j)) : 0.0;
          b[i * block_columns + j] = value;
          const double scaled = value * (j < strip.columns ? column_scale(strip.column + j) : 0);
          squares += scaled * scaled;
        }
      }
    });
    return squares;
  }

  /// Adds the products of up to block_rows chosen rows of A with the rows of B. @return the sum of squares of
  /// A
  double add_rows(const Strip& strip, std::size_t first, std::int64_t k, int depth, const double* b) const {
    const int rows = static_cast<int>(std::min<std::size_t>(block_rows, reference_.rows.size() - first));
    double sums[block_rows][block_columns] = {};
    double squares = 0;
    const void* const matrix = a_.first(strip.entry);
    with_element(a_.type, [&]<class E>(E) {
      for (int i = 0; i < depth; ++i) {
        for (int r = 0; r < rows; ++r) {
          const std::int64_t row = reference_.rows[first + static_cast<std::size_t>(r)];
          const double value = read_element<E>(matrix, a_.index(row, k + i));
          const double scaled = value * row_scale(row);
          squares += scaled * scaled;
          for (int j = 0; j < block_columns; ++j) sums[r][j] += value * b[i * block_columns + j];
        }
      }
    });
    for (int r = 0; r < rows; ++r) {
      double* const row = values(strip, first + static_cast<std::size_t>(r));
      for (int j = 0; j < strip.columns; ++j) row[j] += sums[r][j];
    }
    return squares;
  }

  /// What the epilogue reads for one output.
  struct Sources {
    double scale;
    double c;
    double bias;
    double residual;
  };
  Sources sources(std::int64_t entry, std::int64_t row, std::int64_t column) const {
    const Epilogue& e = arguments_.epilogue;
    const auto element = [&](const TensorView& view) {
      const Matrix m(view);
      return read_element(m.type, m.first(entry), m.index(row, column));
    };
    Sources s = {.scale = scale_at(row, column), .c = 0, .bias = 0, .residual = 0};
    if (beta_ != 0) s.c = element(*arguments_.c);
    if (e.bias) {
      const std::int64_t at = e.bias_axis == BiasAxis::row ? row : column;
      s.bias = read_element(e.bias->dtype, e.bias->data, at * e.bias->strides[0]);
    }
    if (e.residual) s.residual = element(*e.residual);
    return s;
  }

  /// From sums to outputs.
  void finish(const Strip& strip) const {
    for (std::size_t i = 0; i < reference_.rows.size(); ++i) {
      double* const row = values(strip, i);
      double* const aux = reference_.aux.empty() ? nullptr : &reference_.aux[first_of(strip, i)];
      for (int j = 0; j < strip.columns; ++j) {
        const Sources s = sources(strip.entry, reference_.rows[i], strip.column + j);
        const double sum = sums_wrap_ ? static_cast<double>(wrapped(row[j])) : row[j];
        double z = 0;
        row[j] = is_integer(compute_) ? finished_integer(sum, s, z) : finished(sum, s, z);
        if (aux != nullptr) aux[j] = z;
      }
    }
  }

  double clamped(double x) const {
    const Clamp& clamp = arguments_.epilogue.clamp;
    return x < clamp.low ? clamp.low : x > clamp.high ? clamp.high : x;
  }

  /// @param z what it is before the activation
  double finished(double sum, const Sources& s, double& z) const {
    const Epilogue& e = arguments_.epilogue;
    z = (alpha_ == 0 ? 0 : alpha_ * s.scale * sum) + (beta_ == 0 ? 0 : beta_ * s.c) + s.bias;
    return clamped(activate(e.activation, e.leaky_slope, z) + s.residual);
  }

  /// The same in s32, of numbers that all are s32.
  double finished_integer(double sum, const Sources& s, double& z) const {
    const auto as_integer = [](double x) { return static_cast<std::int32_t>(x); };
    const Epilogue& e = arguments_.epilogue;
    std::int32_t x = multiplied(as_integer(alpha_), as_integer(sum));
    x = added(multiplied_added(as_integer(beta_), as_integer(s.c), x), as_integer(s.bias));
    z = x;
    return clamped(added(activate(e.activation, e.leaky_slope, x), as_integer(s.residual)));
  }

  const GemmArguments& arguments_;
  Matrix a_;
  Matrix b_;
  Reference& reference_;
  bool sums_wrap_;
  DType compute_;
  double alpha_;
  double beta_;
  std::int64_t scale_row_stride_ = 0;
  std::int64_t scale_column_stride_ = 0;
};

/// ||C|| over the chosen rows.
double norm_of_c(const TensorView& view, const Reference& reference) {
  const Matrix c(view);
  double squares = 0;
  for (std::int64_t entry = 0; entry < reference.batch; ++entry) {
    for (const std::int64_t row : reference.rows) {
      for (std::int64_t column = 0; column < reference.columns; ++column) {
        const double value = read_element(c.type, c.first(entry), c.index(row, column));
        squares += value * value;
      }
    }
  }
  return std::sqrt(squares);
}

/// A reference without values, but with room for them. @param k multiplications for each
Reference empty_reference(const GemmArguments& arguments, std::int64_t k, const ReferenceOptions& options) {
  const Matrix out(arguments.out);
  Reference reference;
  reference.batch = out.batch;
  reference.columns = out.columns;
  const double a_row =
      static_cast<double>(out.batch) * static_cast<double>(out.columns) * static_cast<double>(k);
  reference.rows = chosen_rows(out.rows, a_row, options.max_multiplications);
  reference.values.resize(static_cast<std::size_t>(out.batch * out.columns) * reference.rows.size());
  if (arguments.epilogue.aux) reference.aux.resize(reference.values.size());
  return reference;
}

Reference compute(const ReduceSplitKArguments& arguments, const ReferenceOptions& options) {
  const GemmArguments roles = detail::in_gemm_roles(arguments);
  const Matrix out(arguments.out);
  Reference reference = empty_reference(roles, arguments.partials.extents[0], options);
  if (reference.values.empty()) return reference;
  const Computation computation(roles, reference);
  const std::int64_t strips = (out.columns + block_columns - 1) / block_columns;
  std::vector<double> squares(static_cast<std::size_t>(out.batch * strips));
  const int threads = options.threads > 0 ? options.threads : default_threads();
  parallel_for(out.batch * strips, threads, [&](int, std::int64_t i) {
    const std::int64_t column = i % strips * block_columns;
    const auto columns = static_cast<int>(std::min<std::int64_t>(block_columns, out.columns - column));
    squares[static_cast<std::size_t>(i)] =
        computation.reduce({i / strips, column, columns}, arguments.partials);
  });
  double sum = 0;
  for (const double s : squares) sum += s;
  reference.scale = std::abs(computation.alpha()) * std::sqrt(sum);
  if (computation.beta() != 0)
    reference.scale += std::abs(computation.beta()) * norm_of_c(*arguments.c, reference);
  return reference;
}

Reference compute(const GemmArguments& arguments, const ReferenceOptions& options) {
  const Matrix out(arguments.out);
  const std::int64_t k = Matrix(arguments.a).columns;
  Reference reference = empty_reference(arguments, k, options);
  if (reference.values.empty()) return reference;

  const Computation computation(arguments, reference);
  const std::int64_t strips = (out.columns + block_columns - 1) / block_columns;
  std::vector<double> squares(static_cast<std::size_t>(out.batch * strips));
  const int threads = options.threads > 0 ? options.threads : default_threads();
  constexpr std::size_t panel = std::size_t{block_k} * block_columns;
  std::vector<double> panels(static_cast<std::size_t>(threads) * panel);
  parallel_for(out.batch * strips, threads, [&](int worker, std::int64_t i) {
    Strip strip;
    strip.entry = i / strips;
    strip.column = i % strips * block_columns;
    strip.columns = static_cast<int>(std::min<std::int64_t>(block_columns, out.columns - strip.column));
    squares[static_cast<std::size_t>(i)] =
        computation.run(strip, &panels[static_cast<std::size_t>(worker) * panel]);
  });

  double sum = 0;
  for (const double s : squares) sum += s;
  if (k > 0) reference.scale = std::abs(computation.alpha()) * std::sqrt(sum / static_cast<double>(k));
  if (computation.beta() != 0)
    reference.scale += std::abs(computation.beta()) * norm_of_c(*arguments.c, reference);
  return reference;
}

/// What the output's type makes of a value that is too large for it or NaN; the value itself otherwise.
double representable(DType type, double value) {
  double stored = 0;
  write_element(type, &stored, 0, value);
  const double rounded = read_element(type, &stored, 0);
  if (is_integer(type)) return std::abs(value - rounded) <= 0.5 ? value : rounded;
  if (saturates(type) && std::abs(value) > info_of(type).largest) return rounded;
  return std::isfinite(rounded) ? value : rounded;
}

/// How far an output is from what it should be: of whole numbers of few bits, as far as rounding does not
/// explain it.
double distance(DType type, double expected, double got) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) return 0;
  if (!std::isfinite(expected) || !std::isfinite(got)) return std::numeric_limits<double>::infinity();
  const double difference = std::abs(got - expected);
  return is_integer(type) && bits_of(type) <= 8 ? std::max(0.0, difference - 0.5) : difference;
}

/// Compares one output with the values that it should have.
Comparison compare(const Reference& reference, const std::vector<double>& values, const TensorView& view,
                   const Tolerance& tolerance) {
  const Matrix out(view);
  Comparison result;
  double worst = -1;
  double difference_squares = 0;
  double reference_squares = 0;
  const double* next = values.data();
  for (std::int64_t entry = 0; entry < reference.batch; ++entry) {
    for (const std::int64_t row : reference.rows) {
      for (std::int64_t column = 0; column < reference.columns; ++column) {
        const double expected = representable(out.type, *next++);
        const double got = read_element(out.type, out.first(entry), out.index(row, column));
        const double difference = distance(out.type, expected, got);
        difference_squares += difference * difference;
        if (std::isfinite(expected) && std::isfinite(got)) reference_squares += expected * expected;
        if (difference > worst) {
          worst = difference;
          result.entry = entry, result.row = row, result.column = column;
          result.expected = expected, result.got = got;
        }
      }
    }
  }
  const double norm = std::sqrt(reference_squares);
  const double allowed = tolerance.output * norm + tolerance.accumulation * std::max(norm, reference.scale) +
                         tolerance.smallest * std::sqrt(static_cast<double>(values.size()));
  const double difference = std::sqrt(difference_squares);
  // Both are relative to the reference's norm; where it is 0, to 1.
  result.error = norm > 0 ? difference / norm : difference;
  result.bound = norm > 0 ? allowed / norm : allowed;
  return result;
}

}  // namespace

Result<Reference> compute_reference(const GemmArguments& arguments, const ReferenceOptions& options) {
  try {
    return compute(arguments, options);
  } catch (const std::exception&) {
    return Status(StatusCode::device_error, "The reference ran out of memory");
  }
}

Result<Reference> compute_reference(const ReduceSplitKArguments& arguments, const ReferenceOptions& options) {
  try {
    return compute(arguments, options);
  } catch (const std::exception&) {
    return Status(StatusCode::device_error, "The reference ran out of memory");
  }
}

Comparison compare(const Reference& reference, const TensorView& out, const Tolerance& tolerance) {
  return compare(reference, reference.values, out, tolerance);
}

Comparison compare(const Reference& reference, const GemmArguments& arguments, const Tolerance& tolerance) {
  const Comparison of_out = compare(reference, reference.values, arguments.out, tolerance);
  if (!arguments.epilogue.aux) return of_out;
  Comparison of_aux = compare(reference, reference.aux, *arguments.epilogue.aux, tolerance);
  of_aux.operand = Operand::aux;
  const bool aux_is_worse = of_aux.error * of_out.bound > of_out.error * of_aux.bound;
  if (of_out.within() != of_aux.within()) return of_out.within() ? of_aux : of_out;
  return aux_is_worse ? of_aux : of_out;
}

}  // namespace quarry::host
