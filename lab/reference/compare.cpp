#include <algorithm>
#include <cmath>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/expression/bounded.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/reference/norm.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/parallel.hpp"

namespace quarry::lab {
namespace {

/// Elements that one thread compares in one piece, at least: far more work than starting a thread.
constexpr std::int64_t piece_elements = 1 << 15;

/// What the output's type makes of a value that is too large for it or NaN; the value itself otherwise.
template <DType type>
double representable(double value) {
  using E = host::Element<type>;
  const double rounded = static_cast<double>(E::to_value(E::from_value(value)));
  if constexpr (is_integer(type)) return std::abs(value - rounded) <= 0.5 ? value : rounded;
  if (saturates(type) && std::abs(value) > info_of(type).largest) return rounded;
  return std::isfinite(rounded) ? value : rounded;
}

/// How far an output is from what it should be: of whole numbers of few bits, as far as so many roundings do
/// not explain it.
template <DType type>
double distance(double expected, double got, int roundings) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) return 0;
  if (!std::isfinite(expected) || !std::isfinite(got)) return std::numeric_limits<double>::infinity();
  const double difference = std::abs(got - expected);
  return is_integer(type) && bits_of(type) <= 8 ? std::max(0.0, difference - 0.5 * roundings) : difference;
}

/// A single output may be off by so many times more than the norm of all allows on average.
constexpr double single_output = 4;

/// What bounds an output last: the clamp, and the range of its type if that saturates.
class Bounds {
 public:
  Bounds(const Clamp& clamp, DType type) : clamp_(clamp) {
    if (!saturates(type)) return;
    const double beyond = 2 * info_of(type).largest;
    lowest_ = stored(type, -beyond);
    highest_ = stored(type, beyond);
  }

  /// How far a right output may lie from what it should be, before it is rounded to its type.
  /// @param x what it should be before the bounds @param radius how far it may be off there
  double reach(double x, double radius) const {
    if (!std::isfinite(x)) return 0;  // stays what it is, or becomes a bound
    const double value = bounded(x);
    return std::max(bounded(x + radius) - value, value - bounded(x - radius));
  }

 private:
  static double stored(DType type, double value) {
    double element = 0;
    host::write_element(type, &element, 0, value);
    return host::read_element(type, &element, 0);
  }
  double bounded(double x) const {
    return std::min(std::max(std::min(std::max(x, clamp_.low), clamp_.high), lowest_), highest_);
  }

  Clamp clamp_;
  double lowest_ = -std::numeric_limits<double>::infinity();
  double highest_ = std::numeric_limits<double>::infinity();
};

/// The norm by which errors of what the outputs are made of may make all outputs wrong, whatever their own
/// rounding. @param norm of the outputs
long double accumulated(const Expected& expected, DType type, double accumulation, long double norm,
                        int threads) {
  const long double most = accumulation * std::max<long double>(norm, expected.scale);
  if (expected.magnitudes.empty()) return most;
  const Bounds bounds(expected.clamp, type);
  const std::vector<double>& before = expected.unclamped.empty() ? expected.values : expected.unclamped;
  std::vector<Norm> parts(before.size() / piece_elements + 1);
  host::parallel_for(std::ssize(parts), threads, [&](int, std::int64_t piece) {
    const auto begin = static_cast<std::size_t>(piece * piece_elements);
    Norm& part = parts[static_cast<std::size_t>(piece)];
    for (std::size_t i = begin; i < std::min(begin + piece_elements, before.size()); ++i) {
      const double size = std::max(std::abs(before[i]), expected.magnitudes[i]);
      part.add(bounds.reach(before[i], single_output * accumulation * size));
    }
  });
  Norm reached;
  for (const Norm& part : parts) reached.add(part);
  return std::min(most, reached.value());
}

/// What some rows of an output add to its comparison.
struct Part {
  Norm differences;
  Norm references;
  std::int64_t known = 0;
  std::int64_t outside = 0;
  /// The element that is furthest off. Its distance is below 0 where there is none.
  double worst = -1;
  std::int64_t matrix = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  double expected = 0;
  double got = 0;
};

/// Adds one row. @param line of Expected::values, counted over all matrices
template <DType type>
void add_row(const Expected& expected, const Matrices& out, std::int64_t line, Part& part) {
  using E = host::Element<type>;
  const std::int64_t matrix = line / std::ssize(expected.rows);
  const std::int64_t row = expected.rows[static_cast<std::size_t>(line % std::ssize(expected.rows))];
  const void* const elements = out.first(matrix);
  const bool is_known = !expected.radii.empty();
  for (std::int64_t column = 0; column < expected.columns; ++column) {
    const auto at = static_cast<std::size_t>(line * expected.columns + column);
    const double wanted = representable<type>(expected.values[at]);
    const auto got = static_cast<double>(host::read_element<E>(elements, out.index(row, column)));
    const bool fits = is_known && could_be_stored({expected.values[at], expected.radii[at]}, type, got);
    part.known += is_known;
    if (is_known && !fits) ++part.outside;
    const double difference = fits ? 0 : distance<type>(wanted, got, expected.roundings);
    part.differences.add(difference);
    if (std::isfinite(wanted) && std::isfinite(got)) part.references.add(wanted);
    // The first one outside is shown even where its distance rounds to nothing.
    if (difference > part.worst || (part.worst == 0 && part.outside == 1 && !fits)) {
      part.worst = difference;
      part.matrix = matrix, part.row = row, part.column = column;
      part.expected = wanted, part.got = got;
    }
  }
}

/// Adds what comes behind a part: as if one loop had gone through both.
void append(Part& part, const Part& next) {
  const bool is_first_outside = part.worst == 0 && part.outside == 0 && next.outside > 0;
  part.differences.add(next.differences);
  part.references.add(next.references);
  part.known += next.known;
  part.outside += next.outside;
  if (next.worst <= part.worst && !(is_first_outside && next.worst == 0)) return;
  part.worst = next.worst;
  part.matrix = next.matrix, part.row = next.row, part.column = next.column;
  part.expected = next.expected, part.got = next.got;
}

/// All of an output. The sums are made in pieces of the same size, so that they do not depend on the threads.
Part compare_rows(const Expected& expected, const Matrices& out, int threads) {
  const std::int64_t lines = expected.matrices * std::ssize(expected.rows);
  const std::int64_t height =
      std::max<std::int64_t>(1, piece_elements / std::max<std::int64_t>(1, expected.columns));
  std::vector<Part> parts(static_cast<std::size_t>((lines + height - 1) / height));
  host::parallel_for(std::ssize(parts), threads, [&](int, std::int64_t piece) {
    Part& part = parts[static_cast<std::size_t>(piece)];
    host::with_type(out.type(), [&]<DType type>(host::TypeTag<type>) {
      const std::int64_t end = std::min(lines, (piece + 1) * height);
      for (std::int64_t line = piece * height; line < end; ++line) add_row<type>(expected, out, line, part);
    });
  });
  Part all;
  for (const Part& part : parts) append(all, part);
  return all;
}

}  // namespace

Comparison compare(const Expected& expected, const TensorView& view, const Tolerance& tolerance,
                   int threads) {
  const Matrices out(view);
  const Part all = compare_rows(expected, out, threads);
  const long double norm = all.references.value();
  const long double allowed =
      expected.roundings * tolerance.output * norm +
      accumulated(expected, out.type(), tolerance.accumulation, norm, threads) +
      tolerance.smallest * std::sqrt(static_cast<long double>(expected.values.size()));
  // Both are relative to the reference's norm; where it is 0, to 1.
  const long double unit = norm > 0 ? norm : 1;
  return {.error = static_cast<double>(all.differences.value() / unit),
          .bound = static_cast<double>(allowed / unit),
          .matrix = all.matrix,
          .row = all.row,
          .column = all.column,
          .expected = all.expected,
          .got = all.got,
          .operand = expected.name,
          .known = all.known,
          .outside = all.outside};
}

}  // namespace quarry::lab
