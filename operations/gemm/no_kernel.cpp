#include <algorithm>
#include <string>
#include <string_view>

#include "operations/gemm/operation.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::gemm {
namespace {

/// "a f16 row" and the like.
std::string described(std::string_view name, DType type, const ProblemOperand& operand) {
  std::string text(name);
  text.append(" ").append(to_string(type));
  const auto fits = [&](int layout) { return operand.fits[layout]; };
  int count = 0;
  for (int layout = 0; layout < layout_count; ++layout) count += fits(layout);
  for (int layout = 0; layout < layout_count && count == 1; ++layout) {
    if (fits(layout)) text.append(" ").append(to_string(static_cast<Layout>(layout)));
  }
  return text;
}

/// Whether an operand is interleaved.
bool is_interleaved(const ProblemOperand& operand) {
  return operand.fits[static_cast<int>(Layout::row_interleaved32)] ||
         operand.fits[static_cast<int>(Layout::column_interleaved32)];
}

/// Whether it is true of the operands of some registered GEMM.
template <class Predicate>
bool is_true_of_any(const Predicate& predicate) {
  return std::ranges::any_of(key_ranges(), [&](const KeyRange& range) {
    const KernelMetadata& kernel = rows()[range.begin].metadata;
    return kernel.operation == Operation::gemm && predicate(kernel.operands);
  });
}

/// Whether some kernel reads operands A or B of this type.
bool is_operand_of_any(DType type) {
  return is_true_of_any([type](const OperandsMetadata& o) { return o.a.dtype == type || o.b.dtype == type; });
}

/// Whether some kernel writes outputs of this type.
bool is_output_of_any(DType type) {
  return is_true_of_any([type](const OperandsMetadata& o) { return o.out.dtype == type; });
}

/// The type that no registered kernel takes, and as what; empty where each one is taken by some kernel.
std::string unknown_type(const Types& t) {
  for (const DType type : {t.a, t.b}) {
    if (!is_operand_of_any(type)) return "no kernel takes operands of " + std::string(to_string(type));
  }
  return is_output_of_any(t.out) ? "" : "no kernel has an output of " + std::string(to_string(t.out));
}

/// Which rule about types of 8 bits and integers they break; empty where none.
std::string_view broken_rule(const Types& t, bool interleaved) {
  const auto is_no_byte = [](DType type) { return is_integer(type) && !is_byte(type); };
  if (has_weight_types(t) && (is_byte(t.a) || is_half(t.a))) return "";
  if (is_half_byte(t.a) || is_half_byte(t.b)) {
    return "s4 and u4 are types of B, beside f16 or bf16 of A; sums are f32, the output is f32 or of A's "
           "type";
  }
  if (is_no_byte(t.a) || is_no_byte(t.b)) return "integer operands are s8 or u8";
  if (is_mixed(t)) {
    return "s8 and u8 operands go with one another, or with f16 or bf16; with these, sums are f32 and the "
           "output "
           "is f32 or the 16-bit type";
  }
  if (is_fp8(t.a) != is_fp8(t.b) && (is_half(t.a) || is_half(t.b))) {
    return "beside f16 or bf16 of A, B may be e4m3 (not e5m2); A is e4m3 or e5m2 only where B is, too; sums "
           "are f32, the output is f32 or of A's type";
  }
  if (is_fp8(t.a) || is_fp8(t.b)) {
    return has_fp8_types(t) ? ""
                            : "e4m3 and e5m2 operands go with one another; sums are f32, the output is e4m3, "
                              "e5m2, f16, bf16 or f32";
  }
  if (is_fp8(t.out)) return "only e4m3 and e5m2 operands have an output of e4m3 or e5m2";
  if (is_byte(t.a) && t.accumulator != DType::s32) return "s8 and u8 operands are summed in s32";
  if (is_byte(t.a) && !takes_integer_sums(t.out))
    return "s8 and u8 operands have an output of s32, s8, u8 or f32";
  if (!is_byte(t.a) && t.accumulator == DType::s32) return "only s8 and u8 operands are summed in s32";
  if (!is_byte(t.a) && is_integer(t.out)) return "only s8 and u8 operands have an integer output";
  if (interleaved && !(is_byte(t.a) && is_byte(t.b)))
    return "only s8 and u8 operands and their outputs have interleaved layouts";
  return "";
}

}  // namespace

Status Rules::no_kernel(const GemmProblem& problem) {
  std::string text = "No kernel is registered for operands " + described("a", problem.types.a, problem.a) +
                     ", " + described("b", problem.types.b, problem.b) + ", accumulator " +
                     std::string(to_string(problem.types.accumulator)) + ", " +
                     described("out", problem.types.out, problem.out);
  const std::string_view rule = broken_rule(
      problem.types, is_interleaved(problem.a) || is_interleaved(problem.b) || is_interleaved(problem.out));
  if (!rule.empty()) {
    text.append(": ").append(rule);
  } else if (const std::string unknown = unknown_type(problem.types); !unknown.empty()) {
    text.append(": ").append(unknown);
  }
  return {StatusCode::no_kernel, text};
}

}  // namespace quarry::detail::gemm
