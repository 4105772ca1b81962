#include "operations/grouped_gemm/problem.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "basic/words.hpp"
#include "common/config_parts.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/scales.hpp"
#include "operations/grouped_gemm/expression.hpp"

namespace quarry {
namespace {

constexpr std::string_view meanings[] = {"ends", "counts"};

}  // namespace

std::string_view to_string(SizesAre meaning) { return detail::word_of(meanings, meaning); }

Result<SizesAre> parse_sizes_are(std::string_view word) {
  if (const auto value = detail::value_of(meanings, word)) return static_cast<SizesAre>(*value);
  return Status(StatusCode::parse_error, detail::unknown_word("meaning of sizes", word, meanings));
}

namespace detail::grouped_gemm {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

/// Refuses what no form has: ranks that do not go together, arrays of pointers, interleaved layouts.
Status check_form(const GroupedGemmArguments& args) {
  const std::pair<const TensorView&, Operand> matrices[] = {
      {args.a, Operand::a}, {args.b, Operand::b}, {args.out, Operand::out}};
  for (const auto& [view, name] : matrices) {
    if (Status s = check_tensor(view, name, 2, 3); !s) return s;
    if (view.is_pointer_array) {
      return invalid("Operand `" + std::string(to_string(name)) +
                     "` is an array of pointers, which a grouped GEMM does not take");
    }
    if (view.tag != LayoutTag::strided)
      return {code, Reason::tag, name, static_cast<int>(LayoutTag::strided), static_cast<int>(view.tag)};
  }
  const int ranks = args.a.rank * 100 + args.b.rank * 10 + args.out.rank;
  if (ranks == 232 || ranks == 333 || ranks == 223) return {};
  return invalid("The ranks of a, b and out are " + std::to_string(args.a.rank) + ", " +
                 std::to_string(args.b.rank) + ", " + std::to_string(args.out.rank) +
                 ": expected 2, 3, 2 (contiguous groups), 3, 3, 3 (masked groups) or 2, 2, 3 (ragged K)");
}

Status check_batch(const TensorView& view, Operand name, std::int64_t groups) {
  if (view.extents[0] == groups) return {};
  return {code, Reason::batch, name, groups, view.extents[0]};
}

/// Columns of B: as many as the output has, or twice as many with gated pairs.
std::int64_t product_columns(const GroupedGemmArguments& args) {
  const bool is_gated = args.expression && args.expression->is_gated();
  return columns(args.out) * (is_gated ? 2 : 1);
}

/// The extents of A and B against the output's.
Status check_shapes(const GroupedGemmArguments& args) {
  const TensorView& out = args.out;
  const std::int64_t k = columns(args.a);
  if (Status s = check_extents(args.a, Operand::a, rows(out), k, out); !s) return s;
  if (rows(args.b) != k) return {code, Reason::rows, Operand::b, k, rows(args.b)};
  const std::int64_t n = product_columns(args);
  if (columns(args.b) != n) return {code, Reason::columns, Operand::b, n, columns(args.b)};
  return form_of(args) == GroupForm::masked ? check_batch(args.b, Operand::b, out.extents[0]) : Status();
}

std::int64_t groups_of(const GroupedGemmArguments& args) {
  return form_of(args) == GroupForm::contiguous ? args.b.extents[0] : args.out.extents[0];
}

Status check_sizes(const GroupedGemmArguments& args) {
  const TensorView& sizes = args.sizes;
  if (sizes.is_pointer_array)
    return invalid("Operand `sizes` is an array of pointers: expected a vector of s32");
  if (Status s = check_tensor(sizes, Operand::sizes, 1, 1); !s) return s;
  if (sizes.dtype != DType::s32)
    return {code, Reason::dtype, Operand::sizes, static_cast<int>(DType::s32), static_cast<int>(sizes.dtype)};
  const std::int64_t groups = groups_of(args);
  if (sizes.extents[0] != groups) return {code, Reason::extent, Operand::sizes, groups, sizes.extents[0]};
  if (groups > 1 && sizes.strides[0] != 1) {
    return invalid("Operand `sizes` is not contiguous: its stride is " + std::to_string(sizes.strides[0]));
  }
  if (args.sizes_are > SizesAre::counts) {
    return invalid("There is no meaning of sizes of number " +
                   std::to_string(static_cast<int>(args.sizes_are)));
  }
  if (form_of(args) != GroupForm::masked || args.sizes_are == SizesAre::counts) return {};
  return invalid("The sizes of masked groups are counts of their rows, not ends: set sizes_are to counts");
}

std::int64_t entries_of(const TensorView& view) { return view.rank == 3 ? view.extents[0] : 0; }

GivenScale scales_of_a(const GroupedGemmArguments& args) {
  return {Operand::a_scale,
          args.a_scale,
          args.a_scale_granularity,
          {rows(args.a), columns(args.a)},
          args.a.rank,
          entries_of(args.a),
          false};
}

GivenScale scales_of_b(const GroupedGemmArguments& args) {
  return {Operand::b_scale,
          args.b_scale,
          args.b_scale_granularity,
          {rows(args.b), columns(args.b)},
          args.b.rank,
          entries_of(args.b),
          false};
}

Status check_scales(const GroupedGemmArguments& args, DType compute) {
  if (!args.a_scale && !args.b_scale) return {};
  if (form_of(args) == GroupForm::ragged_k) {
    return invalid("Operand `" + std::string(args.a_scale ? "a_scale" : "b_scale") +
                   "` is unsupported with ragged K: a block of 128 positions may be of several groups");
  }
  if (Status s = check_scale(scales_of_a(args), compute); !s) return s;
  return check_scale(scales_of_b(args), compute);
}

/// No matrix of the epilogue is an array of pointers.
Status check_no_arrays(const OperandList& operands) {
  for (const OperandRef& operand : operands) {
    if (!operand.view->is_pointer_array) continue;
    return invalid("Operand `" + std::string(to_string(operand.name)) +
                   "` is an array of pointers, which a grouped GEMM does not take");
  }
  return {};
}

DType accumulator_of(const GroupedGemmArguments& args) {
  return args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
}

/// Hints for the ranking that contradict each other, or are no numbers of rows.
Status check_hints(const GroupedGemmArguments& args) {
  const auto negative = [](const char* name, std::int64_t value) {
    return invalid("`" + std::string(name) + "` must be 0 or more, and is " + std::to_string(value));
  };
  const std::int64_t total = args.expected_total.value_or(0);
  const std::int64_t largest = args.expected_largest.value_or(0);
  if (total < 0) return negative("expected_total", total);
  if (largest < 0) return negative("expected_largest", largest);
  if (!args.expected_total || largest <= total) return {};
  return invalid("`expected_largest` is " + std::to_string(largest) +
                 ": expected at most `expected_total`, which is " + std::to_string(total));
}

}  // namespace

Status normalise(const GroupedGemmArguments& args, const OperandList& operands, GroupedGemmProblem& problem) {
  if (Status s = check_form(args); !s) return s;
  if (Status s = check_shapes(args); !s) return s;
  if (Status s = check_sizes(args); !s) return s;
  if (Status s = check_no_arrays(operands); !s) return with_names(s, args.tensors);
  if (Status s = check_output_strides(args.out); !s) return s;
  const DType accumulator = accumulator_of(args);
  if (bits_of(accumulator) == 0) return invalid("The accumulator has no data type");
  const DType compute = compute_type(accumulator, args.out.dtype);
  if (Status s = check_scales(args, compute); !s) return s;
  if (Status s = check_epilogue_operands(args.out, args.c, args.epilogue, compute); !s) return s;
  if (Status s = check_expression(args, accumulator); !s) return s;
  if (Status s = check_hints(args); !s) return s;
  if (Status s = check_memory(operands); !s) return with_names(s, args.tensors);
  if (Status s = check_overlaps(operands); !s) return with_names(s, args.tensors);
  describe(args, problem);
  return {};
}

std::int64_t room_of(const GroupedGemmArguments& args) {
  return form_of(args) == GroupForm::ragged_k ? columns(args.a) : rows(args.a);
}

ExpectedSizes expected_sizes(const GroupedGemmArguments& args) {
  const std::int64_t room = room_of(args);
  const std::int64_t groups = groups_of(args);
  if (groups == 0) return {};
  const std::int64_t most = form_of(args) == GroupForm::masked ? room * groups : room;
  const std::int64_t largest = std::min(args.expected_largest.value_or(room), room);
  const std::int64_t total = std::min(args.expected_total.value_or(largest * groups), most);
  return {total, args.expected_largest ? std::min(largest, total) : 0};
}

void describe(const GroupedGemmArguments& args, GroupedGemmProblem& problem) {
  const Epilogue& e = args.epilogue;
  const DType accumulator = accumulator_of(args);
  const GroupForm form = form_of(args);
  problem = {};
  GemmProblem& gemm = problem.gemm;
  gemm.types = {args.a.dtype, args.b.dtype, accumulator, args.out.dtype};
  gemm.a = problem_operand(args.a);
  gemm.b = problem_operand(args.b);
  gemm.out = problem_operand(args.out);
  gemm.has_c = !is_zero(e.beta);
  if (gemm.has_c) gemm.c = problem_operand(*args.c);
  gemm.has_bias = e.bias.has_value();
  gemm.has_scale = e.scale.has_value();
  gemm.has_residual = e.residual.has_value();
  gemm.has_aux = e.aux.has_value();
  gemm.epilogue = epilogue_params(e, compute_type(accumulator, args.out.dtype));
  gemm.m = static_cast<int>(rows(args.out));
  gemm.n = static_cast<int>(columns(args.out));
  gemm.k = is_zero(e.alpha) ? 0 : static_cast<int>(columns(args.a));
  if (gemm.k > 0) gemm.scales = {operand_scale(scales_of_a(args)), operand_scale(scales_of_b(args))};
  gemm.batch = args.out.rank == 3 ? static_cast<int>(args.out.extents[0]) : 1;
  if (args.expression) describe_expression(given_expression(args), gemm);
  const auto groups = static_cast<int>(groups_of(args));
  problem.groups = {.sizes = static_cast<const int*>(args.sizes.data),
                    .groups = groups,
                    .room = static_cast<int>(room_of(args)),
                    .form = form,
                    .sizes_are_ends = args.sizes_are == SizesAre::ends,
                    .zero_outside = args.zero_outside,
                    .clamp_host_sizes = args.clamp_host_sizes};
  const ExpectedSizes expected = expected_sizes(args);
  problem.expected_total = expected.total;
  problem.expected_largest = expected.largest;
}

}  // namespace detail::grouped_gemm
}  // namespace quarry
