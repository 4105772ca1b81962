#include "lab/reference/reference.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "lab/operation.hpp"
#include "lab/problems/matrices.hpp"

namespace quarry::lab {
namespace {

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

Comparison compare(const Reference& reference, const Arguments& arguments, const Tolerance& tolerance) {
  return compare_all(reference, arguments, [&](Operand) { return tolerance; });
}

Comparison compare(const Reference& reference, const Arguments& arguments, const KernelMetadata& kernel) {
  const OperationLab& lab = lab_of(arguments.operation());
  return compare_all(reference, arguments,
                     [&](Operand output) { return lab.tolerance(kernel, arguments, output); });
}

}  // namespace quarry::lab
