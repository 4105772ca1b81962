#include "operations/gemm_list/problem.hpp"

#include <bit>
#include <limits>
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
#include "operations/gemm_list/expression.hpp"

namespace quarry {
namespace {

constexpr std::string_view schedules[] = {"device", "host"};

}  // namespace

std::string_view to_string(ListSchedule schedule) { return detail::word_of(schedules, schedule); }

Result<ListSchedule> parse_list_schedule(std::string_view word) {
  if (const auto value = detail::value_of(schedules, word)) return static_cast<ListSchedule>(*value);
  return Status(StatusCode::parse_error, detail::unknown_word("schedule", word, schedules));
}

namespace detail::gemm_list {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

/// No kernel needs more elements.
constexpr unsigned most_promise = 16;

std::string operand_text(Operand name) { return "Operand `" + std::string(to_string(name)) + "`"; }

/// Refuses what no list has: outputs without a batch, interleaved layouts.
Status check_matrices(const GemmListArguments& args) {
  const TensorView& out = args.out;
  if (Status s = check_tensor(out, Operand::out, 3, 3); !s) return s;
  if (Status s = check_tensor(args.a, Operand::a, 2, 3); !s) return s;
  if (Status s = check_tensor(args.b, Operand::b, 2, 3); !s) return s;
  const std::pair<const TensorView&, Operand> matrices[] = {
      {out, Operand::out}, {args.a, Operand::a}, {args.b, Operand::b}};
  for (const auto& [view, name] : matrices) {
    if (view.tag != LayoutTag::strided)
      return {code, Reason::tag, name, static_cast<int>(LayoutTag::strided), static_cast<int>(view.tag)};
  }
  const std::int64_t k = columns(args.a);
  if (Status s = check_extents(args.a, Operand::a, rows(out), k, out); !s) return s;
  if (Status s = check_extents(args.b, Operand::b, k, product_columns(args), out); !s) return s;
  return check_output_strides(out);
}

/// A row of so many numbers for each problem.
Status check_table(const TensorView& view, Operand name, std::int64_t problems, int numbers) {
  if (view.is_pointer_array)
    return invalid(operand_text(name) + " is an array of pointers: expected a matrix of s32");
  if (Status s = check_tensor(view, name, 2, 2); !s) return s;
  if (view.dtype != DType::s32)
    return {code, Reason::dtype, name, static_cast<int>(DType::s32), static_cast<int>(view.dtype)};
  if (rows(view) != problems) return {code, Reason::rows, name, problems, rows(view)};
  if (columns(view) != numbers) return {code, Reason::columns, name, numbers, columns(view)};
  if (view.strides[1] == 1 && (problems <= 1 || view.strides[0] == numbers)) return {};
  return invalid(operand_text(name) + " is not contiguous: expected strides of " + std::to_string(numbers) +
                 " and 1, got " + std::to_string(view.strides[0]) + " and " +
                 std::to_string(view.strides[1]));
}

/// Whether a matrix can have leading dimensions: its lines are contiguous, and do not overlap.
Status check_lines(const TensorView& view, Operand name) {
  const std::size_t r = view.rank - 2U;
  const std::size_t c = view.rank - 1U;
  if (view.strides[c] != 1 && view.strides[r] != 1) {
    return invalid(operand_text(name) +
                   " has neither contiguous rows nor contiguous columns, and `leading` says " +
                   "how far apart these are");
  }
  const bool by_columns = is_by_columns(view);
  const std::int64_t line = view.extents[by_columns ? r : c];
  const std::int64_t lines = view.extents[by_columns ? c : r];
  const std::int64_t apart = view.strides[by_columns ? c : r];
  if (lines <= 1 || apart >= line) return {};
  return invalid(operand_text(name) + " has lines of " + std::to_string(line) + " elements that are " +
                 std::to_string(apart) + " apart: beside `leading`, lines do not overlap");
}

Status check_leading(const GemmListArguments& args) {
  if (!args.leading) return {};
  if (args.leading_alignment < 1) {
    return invalid("`leading_alignment` is " + std::to_string(args.leading_alignment) +
                   ": expected 1 or more elements");
  }
  if (Status s = check_table(*args.leading, Operand::leading, args.out.extents[0], list_matrices); !s)
    return s;
  if (Status s = check_lines(args.a, Operand::a); !s) return s;
  if (Status s = check_lines(args.b, Operand::b); !s) return s;
  if (!is_zero(args.epilogue.beta)) {
    if (Status s = check_lines(*args.c, Operand::c); !s) return s;
  }
  return check_lines(args.out, Operand::out);
}

/// Refuses sizes in host memory that are negative or past the bounds where they are a promise, unless sizes
/// that make no sense are to be clamped.
Status check_promised_sizes(const GemmListArguments& args) {
  if (args.schedule != ListSchedule::host || args.clamp_host_sizes) return {};
  constexpr const char* names[] = {"M", "N", "K"};
  constexpr std::int64_t any = std::numeric_limits<std::int32_t>::max();
  // Where alpha is 0, K has no bound.
  const std::int64_t bounds[] = {rows(args.out), product_columns(args),
                                 is_zero(args.epilogue.alpha) ? any : columns(args.a)};
  for (std::size_t i = 0; i < args.host_sizes.size(); ++i) {
    const std::size_t which = i % list_extents;
    const std::int32_t extent = args.host_sizes[i];
    if (extent >= 0 && extent <= bounds[which]) continue;
    return invalid(
        "`host_sizes` is wrong at problem " + std::to_string(i / list_extents) + ": its " + names[which] +
        " is " + std::to_string(extent) +
        (extent < 0 ? ", which is negative" : ", and the bound is " + std::to_string(bounds[which])));
  }
  return {};
}

Status check_host_sizes(const GemmListArguments& args) {
  if (args.schedule > ListSchedule::host) {
    return invalid("`schedule` is " + std::to_string(static_cast<int>(args.schedule)) +
                   ": expected device or host");
  }
  const auto numbers = static_cast<std::int64_t>(args.host_sizes.size());
  const std::int64_t problems = args.out.extents[0];
  if (numbers == 0 && args.schedule == ListSchedule::host && problems > 0) {
    return invalid("`schedule` is host, and `host_sizes` is empty: expected " +
                   std::to_string(problems * list_extents) + " numbers, M, N and K of each problem");
  }
  if (numbers == 0) return {};
  if (numbers == problems * list_extents) return check_promised_sizes(args);
  return invalid("`host_sizes` has " + std::to_string(numbers) + " numbers: expected " +
                 std::to_string(problems * list_extents) + ", M, N and K of each problem");
}

/// Refuses sizes in host memory of half a gated pair, unless sizes that make no sense are to be clamped.
Status check_host_pairs(const GemmListArguments& args) {
  const int unit = least_pair_unit(args);
  if (unit == 1 || args.clamp_host_sizes) return {};
  const auto bound = static_cast<int>(product_columns(args));
  for (std::size_t i = 0; i < args.host_sizes.size() / list_extents; ++i) {
    const std::int32_t n = args.host_sizes[i * list_extents + 1];
    if (clamped_extent(n, bound) % unit == 0) continue;
    return invalid("`host_sizes` is wrong at problem " + std::to_string(i) + ": its N is " +
                   std::to_string(n) + ", and gated pairs need a multiple of " + std::to_string(unit));
  }
  return {};
}

DType accumulator_of(const GemmListArguments& args) {
  return args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
}

/// @param name a_scale or b_scale
GivenScale given_scale(const GemmListArguments& args, Operand name) {
  const bool of_a = name == Operand::a_scale;
  const TensorView& operand = of_a ? args.a : args.b;
  return {.name = name,
          .view = of_a ? args.a_scale : args.b_scale,
          .granularity = of_a ? args.a_scale_granularity : args.b_scale_granularity,
          .of = {rows(operand), columns(operand)},
          .most_rank = 3,
          .entries = args.out.extents[0],
          .may_be_grouped = false};
}

/// A bit for each matrix whose columns are contiguous.
unsigned matrices_by_columns(const GemmListArguments& args, bool has_c) {
  const auto bit = [](const TensorView& view, ListMatrix which) {
    return is_by_columns(view) ? 1U << static_cast<int>(which) : 0U;
  };
  return bit(args.a, ListMatrix::a) | bit(args.b, ListMatrix::b) |
         (has_c ? bit(*args.c, ListMatrix::c) : 0U) | bit(args.out, ListMatrix::out);
}

/// The greatest power of two, up to 16, that leading dimensions are promised to be multiples of.
std::uint8_t promised_alignment(const GemmListArguments& args) {
  const auto promise = static_cast<unsigned>(args.leading_alignment) | most_promise;
  return static_cast<std::uint8_t>(1U << std::countr_zero(promise));
}

/// The batch that the bounds make.
void describe_bounds(const GemmListArguments& args, GemmProblem& gemm) {
  const Epilogue& e = args.epilogue;
  const DType accumulator = accumulator_of(args);
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
  if (gemm.k > 0)
    gemm.scales = {operand_scale(given_scale(args, Operand::a_scale)),
                   operand_scale(given_scale(args, Operand::b_scale))};
  gemm.batch = static_cast<int>(args.out.extents[0]);
  if (args.expression) describe_expression(given_expression(args), gemm);
}

}  // namespace

bool is_by_columns(const TensorView& view) { return view.strides[view.rank - 1U] != 1; }

Status normalise(const GemmListArguments& args, const OperandList& operands, GemmListProblem& problem) {
  if (Status s = check_matrices(args); !s) return s;
  const DType accumulator = accumulator_of(args);
  if (bits_of(accumulator) == 0) return invalid("The accumulator has no data type");
  const DType compute = compute_type(accumulator, args.out.dtype);
  if (Status s = check_epilogue_operands(args.out, args.c, args.epilogue, compute); !s) return s;
  if (Status s = check_scale(given_scale(args, Operand::a_scale), compute); !s) return s;
  if (Status s = check_scale(given_scale(args, Operand::b_scale), compute); !s) return s;
  if (Status s = check_table(args.sizes, Operand::sizes, args.out.extents[0], list_extents); !s) return s;
  if (Status s = check_leading(args); !s) return s;
  if (Status s = check_host_sizes(args); !s) return s;
  if (Status s = check_expression(args, accumulator); !s) return s;
  if (Status s = check_host_pairs(args); !s) return s;
  if (Status s = check_memory(operands); !s) return with_names(s, args.tensors);
  if (Status s = check_overlaps(operands); !s) return with_names(s, args.tensors);
  describe(args, problem);
  return {};
}

void describe(const GemmListArguments& args, GemmListProblem& problem) {
  problem = {};
  describe_bounds(args, problem.gemm);
  problem.has_leading = args.leading.has_value();
  problem.leading_alignment = problem.has_leading ? promised_alignment(args) : 0;
  problem.host_sizes = args.host_sizes.empty() ? nullptr : args.host_sizes.data();
  problem.host_schedule = problem.host_sizes != nullptr && args.schedule == ListSchedule::host;
  problem.list = {.sizes = static_cast<const int*>(args.sizes.data),
                  .leading = problem.has_leading ? static_cast<const int*>(args.leading->data) : nullptr,
                  .by_columns = problem.has_leading ? matrices_by_columns(args, problem.gemm.has_c) : 0U,
                  .clamp_host_sizes = args.clamp_host_sizes,
                  .stretches = {}};
}

}  // namespace detail::gemm_list
}  // namespace quarry
