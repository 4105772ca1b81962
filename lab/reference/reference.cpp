#include "lab/reference/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/config_parts.hpp"
#include "lab/expression/bounded.hpp"
#include "lab/operation.hpp"
#include "lab/problems/matrices.hpp"
#include "lab/reference/norm.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::lab {
namespace {

/// What the output's type makes of a value that is too large for it or NaN; the value itself otherwise.
double representable(DType type, double value) {
  double stored = 0;
  host::write_element(type, &stored, 0, value);
  const double rounded = host::read_element(type, &stored, 0);
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
long double accumulated(const Expected& expected, DType type, double accumulation, long double norm) {
  const long double most = accumulation * std::max<long double>(norm, expected.scale);
  if (expected.magnitudes.empty()) return most;
  const Bounds bounds(expected.clamp, type);
  const std::vector<double>& before = expected.unclamped.empty() ? expected.values : expected.unclamped;
  Norm reached;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double size = std::max(std::abs(before[i]), expected.magnitudes[i]);
    reached.add(bounds.reach(before[i], single_output * accumulation * size));
  }
  return std::min(most, reached.value());
}

/// The comparison of the output that is off further, for its bound.
const Comparison& worse(const Comparison& one, const Comparison& other) {
  if (one.within() != other.within()) return one.within() ? other : one;
  return other.error * one.bound > one.error * other.bound ? other : one;
}

/// Compares all outputs, each by the tolerance that `of` says.
template <class Of>
Comparison compare_all(const Reference& reference, const Arguments& arguments, const Of& of) {
  detail::OperandList operands;
  list_operands(arguments, operands);
  Comparison worst;
  for (const Expected& each : reference.outputs) {
    const Comparison compared = compare(each, *operands.find(each.name)->view, of(each.name));
    worst = &each == reference.outputs.data() ? compared : worse(worst, compared);
  }
  return worst;
}

}  // namespace

const Expected& Reference::operator[](Operand name) const {
  return *std::ranges::find(outputs, name, &Expected::name);
}

Result<Reference> compute_reference(const Arguments& arguments, const ReferenceOptions& options) {
  Result<Reference> reference = lab_of(arguments.operation()).reference(arguments, options);
  if (reference && reference->outputs.empty())
    return Status(StatusCode::invalid_arguments, "There is no reference of these arguments");
  return reference;
}

std::vector<std::int64_t> chosen_rows(std::int64_t rows, double multiplications,
                                      const ReferenceOptions& options) {
  const double limit = options.max_multiplications;
  std::int64_t count = rows;
  if (static_cast<double>(rows) * multiplications > limit) {
    count =
        std::clamp(static_cast<std::int64_t>(limit / multiplications), std::min<std::int64_t>(4, rows), rows);
  }
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    chosen[static_cast<std::size_t>(i)] = count == 1 ? 0 : i * (rows - 1) / (count - 1);
  }
  return chosen;
}

Expected expected_output(Operand name, const TensorView& view, const std::vector<std::int64_t>& rows) {
  const Matrices out(view);
  Expected expected{.name = name,
                    .rows = rows,
                    .all_rows = out.rows(),
                    .matrices = out.count(),
                    .columns = out.columns(),
                    .values = {}};
  expected.values.resize(static_cast<std::size_t>(out.count() * out.columns()) * rows.size());
  return expected;
}

std::string Comparison::text() const {
  char text[320];
  std::snprintf(text, sizeof text,
                "error %.3g, bound %.3g; furthest off at (%lld, %lld, %lld): expected %.9g, got %.9g", error,
                bound, static_cast<long long>(matrix), static_cast<long long>(row),
                static_cast<long long>(column), expected, got);
  if (outside > 0) {
    const std::size_t length = std::strlen(text);
    std::snprintf(text + length, sizeof text - length, "; %lld beyond what rounding permits",
                  static_cast<long long>(outside));
  }
  return operand == Operand::out ? text : std::string(to_string(operand)) + ": " + text;
}

Comparison compare(const Expected& expected, const TensorView& view, const Tolerance& tolerance) {
  const Matrices out(view);
  Comparison result;
  result.operand = expected.name;
  double worst = -1;
  Norm differences;
  Norm references;
  const double* next = expected.values.data();
  for (std::int64_t matrix = 0; matrix < expected.matrices; ++matrix) {
    for (const std::int64_t row : expected.rows) {
      for (std::int64_t column = 0; column < expected.columns; ++column) {
        const auto at = static_cast<std::size_t>(next - expected.values.data());
        const double wanted = representable(out.type(), *next++);
        const double got = host::read_element(out.type(), out.first(matrix), out.index(row, column));
        const bool is_known = !expected.radii.empty();
        const bool fits =
            is_known && could_be_stored({expected.values[at], expected.radii[at]}, out.type(), got);
        result.known += is_known;
        if (is_known && !fits) ++result.outside;
        const double difference = fits ? 0 : distance(out.type(), wanted, got);
        differences.add(difference);
        if (std::isfinite(wanted) && std::isfinite(got)) references.add(wanted);
        // The first one outside is shown even where its distance rounds to nothing.
        if (difference > worst || (worst == 0 && result.outside == 1 && !fits)) {
          worst = difference;
          result.matrix = matrix, result.row = row, result.column = column;
          result.expected = wanted, result.got = got;
        }
      }
    }
  }
  const long double norm = references.value();
  const long double allowed =
      expected.roundings * tolerance.output * norm +
      accumulated(expected, out.type(), tolerance.accumulation, norm) +
      tolerance.smallest * std::sqrt(static_cast<long double>(expected.values.size()));
  // Both are relative to the reference's norm; where it is 0, to 1.
  const long double unit = norm > 0 ? norm : 1;
  result.error = static_cast<double>(differences.value() / unit);
  result.bound = static_cast<double>(allowed / unit);
  return result;
}

Comparison compare(const Reference& reference, const Arguments& arguments, const Tolerance& tolerance) {
  return compare_all(reference, arguments, [&](Operand) { return tolerance; });
}

Comparison compare(const Reference& reference, const Arguments& arguments, const KernelMetadata& kernel) {
  const OperationLab& lab = lab_of(arguments.operation());
  return compare_all(reference, arguments,
                     [&](Operand output) { return lab.tolerance(kernel, arguments, output); });
}

}  // namespace quarry::lab
