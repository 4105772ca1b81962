#include "operations/reduce_split_k/problem.hpp"

#include <optional>
#include <string>
#include <utility>

#include "common/config_parts.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "reduce_split_k/config.hpp"

namespace quarry::detail {
namespace {

constexpr auto code = StatusCode::invalid_arguments;

/// Checks the extents of the partial sums, which are the slices, then the extents of `out`.
Status check_partials(const TensorView& partials, const TensorView& out) {
  if (Status s = check_tensor(partials, Operand::partials, out.rank + 1, out.rank + 1); !s) return s;
  if (partials.tag != LayoutTag::strided) {
    return {code, Reason::tag, Operand::partials, static_cast<int>(LayoutTag::strided),
            static_cast<int>(partials.tag)};
  }
  if (partials.extents[0] == 0) return invalid("Operand `partials` has no slices: expected 1 or more, got 0");
  for (std::size_t i = 0; i < out.rank; ++i) {
    const std::int64_t expected = out.extents[i];
    const std::int64_t got = partials.extents[i + 1];
    if (expected == got) continue;
    const std::size_t behind = out.rank - 1 - i;
    const Reason reason = behind == 0 ? Reason::columns : behind == 1 ? Reason::rows : Reason::batch;
    return {code, reason, Operand::partials, expected, got};
  }
  return {};
}

/// Refuses arrays of pointers.
Status check_no_arrays(const ReduceSplitKArguments& args) {
  const auto check = [](const TensorView& view, Operand name) -> Status {
    if (!view.is_pointer_array) return {};
    return invalid("Operand `" + std::string(to_string(name)) +
                   "` is an array of pointers, which a reduction does not take");
  };
  if (Status s = check(args.out, Operand::out); !s) return s;
  if (Status s = check(args.partials, Operand::partials); !s) return s;
  const Epilogue& e = args.epilogue;
  const bool reads_c = args.c && !is_zero(e.beta);
  const std::pair<const TensorView*, Operand> others[] = {
      {reads_c ? &*args.c : nullptr, Operand::c},
      {e.residual ? &*e.residual : nullptr, Operand::residual},
      {e.aux ? &*e.aux : nullptr, Operand::aux}};
  for (const auto& [view, name] : others) {
    if (view == nullptr) continue;
    if (Status s = check(*view, name); !s) return s;
  }
  return {};
}

/// Whether each stride is the product of the extents behind it. Strides of a view without elements, and of
/// extents of 1, say nothing.
bool is_packed(const TensorView& view) {
  if (!has_elements(view)) return true;
  std::int64_t packed = 1;
  for (std::size_t i = view.rank; i-- > 0;) {
    if (view.extents[i] > 1 && view.strides[i] != packed) return false;
    packed *= view.extents[i];  // no more than the view reaches, which was checked
  }
  return true;
}

MatrixParams matrix(const TensorView& view) { return problem_operand(view).matrix; }

}  // namespace

Status normalise(const ReduceSplitKArguments& args, const OperandList& operands, ReduceProblem& problem) {
  const TensorView& out = args.out;
  if (Status s = check_no_arrays(args); !s) return s;
  if (Status s = check_tensor(out, Operand::out, 2, 3); !s) return s;
  if (Status s = check_partials(args.partials, out); !s) return s;
  if (Status s = check_output_strides(out); !s) return s;
  const DType compute = compute_type(args.partials.dtype, out.dtype);
  if (Status s = check_epilogue_operands(out, args.c, args.epilogue, compute); !s) return s;
  if (Status s = check_memory(operands); !s) return s;
  if (Status s = check_overlaps(operands); !s) return s;
  describe(args, problem);
  return {};
}

void describe(const ReduceSplitKArguments& args, ReduceProblem& problem) {
  const TensorView& out = args.out;
  const DType compute = compute_type(args.partials.dtype, out.dtype);
  const Epilogue& e = args.epilogue;
  problem = {};
  problem.partials = args.partials.dtype;
  problem.out = out.dtype;
  if (out.tag != LayoutTag::strided) problem.layout = layout_of(out.tag);
  problem.is_packed = is_packed(args.partials);
  problem.has_c = !is_zero(e.beta);
  problem.has_bias = e.bias.has_value();
  problem.has_scale = e.scale.has_value();
  problem.has_residual = e.residual.has_value();
  problem.has_aux = e.aux.has_value();
  const auto extent = [&out](std::size_t i) { return static_cast<int>(out.extents[i]); };
  problem.params = {.partials = args.partials.data,
                    .c = problem.has_c ? matrix(*args.c) : MatrixParams{},
                    .out = matrix(out),
                    .epilogue = epilogue_params(e, compute),
                    .m = extent(out.rank - 2U),
                    .n = extent(out.rank - 1U),
                    .batch = out.rank == 3 ? extent(0) : 1,
                    .slices = static_cast<int>(args.partials.extents[0]),
                    .sharers_log2 = 0};
  ReduceParams& p = problem.params;
  p.sharers_log2 = quarry::reduce_split_k::sharers_log2(p.m, p.n, p.batch, p.slices);
}

}  // namespace quarry::detail
