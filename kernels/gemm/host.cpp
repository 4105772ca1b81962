#include "gemm/host.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/epilogue_launch.hpp"
#include "gemm/expression_params.hpp"
#include "gemm/reductions.hpp"
#include "reduce_split_k/config.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry {
namespace {

static_assert(std::is_standard_layout_v<ScaledGemmParams>);
static_assert(expression_is_last<GemmParams> && expression_is_last<ScaledGemmParams> &&
              expression_is_last<ReduceParams>);

/// Elements from one line (row, column, group of 32) of an operand to the next; 0 where there is one line. Of
/// lines along K nobody knows how many there were if alpha is 0, which makes K 0: they count if the pointer
/// is aligned.
std::int64_t leading_dimension(const MatrixParams& matrix, Layout layout, int rows, int columns,
                               bool has_aligned_pointer) {
  const bool by_rows = layout == Layout::row || layout == Layout::row_interleaved32;
  const int extent = by_rows ? rows : columns;
  const int lines = extent / (is_interleaved(layout) ? interleave : 1);
  const bool is_unknown = extent == 0 && has_aligned_pointer;
  if (lines <= 1 && !is_unknown) return 0;
  return by_rows ? matrix.row_stride : matrix.column_stride;
}

/// Why an operand whose alignment is less than needed is refused: leading dimension, batch stride, or else
/// the pointer. @param layout as which the kernel reads it
Status misaligned(const GemmProblem& problem, Operand name, Layout layout, int needed) {
  constexpr auto code = StatusCode::unsupported;
  const bool is_a = name == Operand::a;
  const ProblemOperand& operand = is_a ? problem.a : problem.b;
  const int given = operand.alignment[static_cast<int>(layout)];
  const Operand who = callers(name, problem);
  if (given > 0) {
    const int bytes = static_cast<int>(bytes_for(is_a ? problem.types.a : problem.types.b, needed));
    const bool has_aligned_pointer = operand.pointer_bytes % bytes == 0;
    const std::int64_t leading = leading_dimension(operand.matrix, layout, is_a ? problem.m : problem.k,
                                                   is_a ? problem.k : problem.n, has_aligned_pointer);
    const Status of_leading(code, Reason::leading_alignment, who, needed, leading);
    const bool is_of_leading = leading % needed != 0;
    // Without K, whether there is more than one line is not known: what is known comes first.
    if (is_of_leading && problem.k > 0) return of_leading;
    const bool has_stride = !is_pointer_array(operand.matrix);
    if (has_stride && operand.matrix.batch_stride % needed != 0)
      return {code, Reason::batch_alignment, who, needed, operand.matrix.batch_stride};
    return is_of_leading ? of_leading : Status(code, Reason::pointer_alignment, who, needed, given);
  }
  const Layout asked = problem.is_exchanged ? transposed(layout) : layout;
  return {StatusCode::unsupported, Reason::layout, who, static_cast<int>(asked), -1};
}

/// Tiles of the output over all batch entries. @pre at most grid_limit
std::size_t all_tiles(const GemmTraits& kernel, const GemmProblem& problem) {
  return static_cast<std::size_t>(gemm_blocks(kernel, problem, 1));
}

/// The same reduction seen as the transposed output's reduction.
ReduceParams transposed(const ReduceParams& reduce) {
  ReduceParams result = reduce;
  result.c = transposed(reduce.c);
  result.out = transposed(reduce.out);
  result.epilogue = transposed(reduce.epilogue);
  result.m = reduce.n;
  result.n = reduce.m;
  return result;
}

/// Blocks with less of K tiles would do little but start and hand sums on.
constexpr int least_k_tiles_per_block = 4;

std::int64_t shared_blocks(const GemmTraits& kernel, const GemmProblem& problem,
                           const ChosenControls& controls) {
  const std::int64_t tiles = gemm_blocks(kernel, problem, 1);
  const std::int64_t at_once = static_cast<std::int64_t>(controls.multiprocessors) * controls.resident;
  if (at_once <= 0) return tiles;
  const std::int64_t k_tiles = controls.mode == Mode::stream_k ? tiles_along(problem.k, kernel.tile.k) : 0;
  return std::min(at_once, std::max(tiles, tiles * k_tiles / least_k_tiles_per_block));
}

/// Names the parts of the workspace, and has the counters cleared.
void add_workspace(Launch& launch, const GemmWorkspace& workspace) {
  launch.workspace_bytes = workspace.bytes;
  if (workspace.reductions_bytes > 0)
    launch.parts.add({"reductions", workspace.reductions_offset, workspace.reductions_bytes});
  if (workspace.partials_bytes > 0) launch.parts.add({"partial sums", 0, workspace.partials_bytes});
  if (workspace.counters_bytes == 0) return;
  add_clear(launch, launch.parts.add({"counters", workspace.counters_offset, workspace.counters_bytes}));
}

/// The parameters, without the pointers of the workspace.
void fill(GemmParams& params, const GemmTraits& kernel, const GemmProblem& problem,
          const ChosenControls& chosen) {
  params.a = problem.a.matrix;
  params.b = problem.b.matrix;
  if (problem.has_c) params.c = problem.c.matrix;
  params.out = problem.out.matrix;
  params.epilogue = problem.epilogue;
  params.m = problem.m;
  params.n = problem.n;
  params.k = problem.k;
  params.batch = problem.batch;
  params.tiles_m = tiles_along(problem.m, kernel.tile.m);
  params.tiles_n = tiles_along(problem.n, kernel.tile.n);
  params.swizzle_log2 = std::countr_zero(static_cast<unsigned>(chosen.swizzle));
  params.raster = chosen.raster;
  params.mode = chosen.mode;
  params.slices = chosen.split_k_slices;
  params.k_tiles_per_slice = tiles_along(tiles_along(problem.k, kernel.tile.k), chosen.split_k_slices);
}

/// What of the parameters changes from run to run.
void add_relocations(Launch& launch, const GemmParams& params, const GemmProblem& problem,
                     const GemmWorkspace& workspace) {
  relocate(launch, params.a.data, callers(Operand::a, problem));
  relocate(launch, params.b.data, callers(Operand::b, problem));
  relocate_epilogue(launch, params, problem);
  if (workspace.bytes > 0) relocate(launch, params.partials, Operand::workspace);
  if (workspace.counters_bytes > 0)
    relocate(launch, params.counters, Operand::workspace, workspace.counters_offset);
}

/// The operands that a run needs, a and b in the caller's order.
void add_uses(Launch& launch, const GemmTraits& kernel, const GemmParams& params,
              const GemmProblem& problem) {
  const auto use = [&](Operand seen) {
    const bool is_a = seen == Operand::a;
    const DType type = is_a ? problem.types.a : problem.types.b;
    const int elements = std::max(is_a ? kernel.alignment.a : kernel.alignment.b, 1);
    launch.uses.add(matrix_use(callers(seen, problem), type, is_a ? params.a : params.b, elements));
  };
  if (problem.k > 0) {
    use(callers(Operand::a, problem));
    use(callers(Operand::b, problem));
  }
  use_epilogue(launch, params, problem, kernel.out, compute_type(kernel.accumulator, kernel.out));
}

/// Bytes of the parameters of a GEMM's own steps. @param mode simplified
std::size_t bytes_of_step(const GemmProblem& problem, Mode mode, std::size_t params_bytes) {
  if (!problem.expressed || mode == Mode::split_k_parallel) return params_bytes;
  return params_bytes + sizeof(ExpressionParams) + (problem.wide.has_any() ? sizeof(ReductionParams) : 0);
}

/// The reduction that follows split_k_parallel. It computes the expression, as it has all sums.
void add_reduction(Launch& launch, const GemmTraits& kernel, const GemmParams& gemm,
                   const GemmProblem& problem) {
  const bool is_expressed{problem.expressed};
  Step& step = add_kernel(launch, 1, sizeof(ReduceParams) + (is_expressed ? sizeof(ExpressionParams) : 0));
  if (is_expressed) launch.expression_entry = step.entry;
  auto& params = params_of<ReduceParams>(launch, step);
  params.c = gemm.c;
  params.out = gemm.out;
  params.epilogue = gemm.epilogue;
  params.m = gemm.m;
  params.n = gemm.n;
  params.batch = gemm.batch;
  params.slices = gemm.slices;
  if (kernel.layouts.out == Layout::column) params = transposed(params);
  params.sharers_log2 = reduce_split_k::sharers_log2(params.m, params.n, params.batch, params.slices);
  step.grid =
      static_cast<unsigned>(reduce_split_k::blocks(params.m, params.n, params.batch, params.sharers_log2));
  step.threads = static_cast<unsigned>(reduce_split_k::threads({}));
  relocate(launch, params.partials, Operand::workspace);
  relocate_epilogue(launch, params, problem);
}

}  // namespace

Status gemm_refusal(const GemmTraits& kernel, const GemmProblem& problem, const DeviceModel& device) {
  constexpr auto code = StatusCode::unsupported;
  if (problem.a.alignment[static_cast<int>(kernel.layouts.a)] < kernel.alignment.a) {
    return misaligned(problem, Operand::a, kernel.layouts.a, kernel.alignment.a);
  }
  if (problem.b.alignment[static_cast<int>(kernel.layouts.b)] < kernel.alignment.b) {
    return misaligned(problem, Operand::b, kernel.layouts.b, kernel.alignment.b);
  }
  if (kernel.shared_memory > device.shared_memory_per_block) {
    return {code, Reason::shared_memory, Operand::none, kernel.shared_memory, device.shared_memory_per_block};
  }
  if (kernel.most_k != 0 && problem.k > kernel.most_k) {
    return {code, Reason::k_limit, Operand::none, kernel.most_k, problem.k};
  }
  const int slices = problem.controls.split_k_slices.value_or(1);
  if (const int most = most_slices(kernel, problem); slices > 1 && slices > most) {
    return {code, Reason::split_k_slices, Operand::none, most, slices};
  }
  return {code, Reason::grid_limit, Operand::none, grid_limit, gemm_blocks(kernel, problem, slices)};
}

StreamShares gemm_shares(const GemmTraits& kernel, const GemmProblem& problem,
                         const ChosenControls& controls) {
  return stream_shares(controls.mode, static_cast<unsigned>(gemm_blocks(kernel, problem, 1)),
                       tiles_along(problem.k, kernel.tile.k),
                       static_cast<unsigned>(shared_blocks(kernel, problem, controls)));
}

namespace {

/// The workspace of the sums of stream_k.
GemmWorkspace stream_workspace(const GemmTraits& kernel, const GemmProblem& problem,
                               const ChosenControls& controls) {
  const StreamShares shares = gemm_shares(kernel, problem, controls);
  if (shares.whole == shares.tiles) return {};
  const auto number = [](int value) { return static_cast<std::size_t>(value); };
  GemmWorkspace workspace;
  workspace.partials_bytes = number(partial_bytes(kernel)) * (shares.blocks - std::size_t{1}) *
                             number(kernel.tile.m) * number(kernel.tile.n);
  workspace.counters_bytes = sizeof(int) * shares.blocks;
  workspace.counters_offset = rounded_to_workspace(workspace.partials_bytes);
  workspace.bytes = workspace.counters_offset + rounded_to_workspace(workspace.counters_bytes);
  return workspace;
}

/// The workspace of the sums alone.
GemmWorkspace sums_workspace(const GemmTraits& kernel, const GemmProblem& problem,
                             const ChosenControls& controls) {
  const Mode mode = simplified(controls).mode;
  if (mode == Mode::gemm || mode == Mode::split_k_cluster || is_empty(problem)) return {};
  if (mode == Mode::stream_k) return stream_workspace(kernel, problem, controls);
  return split_k_workspace(kernel, problem, mode, controls.split_k_slices, all_tiles(kernel, problem));
}

}  // namespace

GemmWorkspace gemm_workspace(const GemmTraits& kernel, const GemmProblem& problem,
                             const ChosenControls& controls) {
  GemmWorkspace workspace = sums_workspace(kernel, problem, controls);
  if (!problem.wide.has_lines()) return workspace;
  workspace.reductions_offset = workspace.bytes;
  workspace.reductions_bytes = reduction_bytes(kernel, problem);
  workspace.bytes += rounded_to_workspace(workspace.reductions_bytes);
  return workspace;
}

void gemm_launch(const GemmTraits& kernel, const GemmProblem& problem, const ChosenControls& controls,
                 Launch& launch, std::size_t params_bytes) {
  // What reductions leave of nothing may have elements.
  if (is_empty(problem) && problem.wide.has_lines())
    add_finish(launch, kernel, problem,
               {params_bytes + sizeof(ReductionParams) + sizeof(ExpressionParams), 0});
  if (is_empty(problem)) return;
  const ChosenControls chosen = simplified(controls);
  const GemmWorkspace workspace = gemm_workspace(kernel, problem, chosen);
  add_workspace(launch, workspace);
  params_bytes = bytes_of_step(problem, chosen.mode, params_bytes);
  Step& step = add_kernel(launch, 0, params_bytes);
  auto& params = params_of<GemmParams>(launch, step);
  fill(params, kernel, problem, chosen);
  step.grid = static_cast<unsigned>(gemm_blocks(kernel, problem, chosen.split_k_slices));
  step.threads = static_cast<unsigned>(kernel.threads);
  step.shared_memory = static_cast<unsigned>(kernel.shared_memory);
  if (kernel.schedule == Schedule::stream_k) {
    const StreamShares shares = gemm_shares(kernel, problem, chosen);
    step.grid = shares.blocks;
    if (shares.whole == shares.tiles) params.mode = Mode::gemm;
  }
  step.blocks_wait = params.mode == Mode::split_k_serial || params.mode == Mode::stream_k;
  add_relocations(launch, params, problem, workspace);
  add_uses(launch, kernel, params, problem);
  if (chosen.mode == Mode::split_k_parallel) add_reduction(launch, kernel, params, problem);
  if (problem.wide.has_lines())
    add_finish(launch, kernel, problem, {params_bytes, workspace.reductions_offset});
}

void add_scales(Launch& launch, GemmScaleParams& params, const GemmProblem& problem) {
  const auto add = [&](const OperandScale& scale, ScaleParams& to, Operand callers_name) {
    to.k_log2 = std::countr_zero(static_cast<unsigned>(k_positions(scale.granularity)));
    if (!scale.is_given) return;
    to.values = {scale.data, scale.line_stride, scale.k_stride, scale.batch_stride};
    to.lines_log2 = scale.granularity == ScaleGranularity::block_128x128
                        ? std::countr_zero(static_cast<unsigned>(scale_block))
                        : 0;
    relocate(launch, to.values.data, callers_name);
    launch.uses.add(matrix_use(callers_name, DType::f32, to.values, 1));
  };
  const bool exchanged = problem.is_exchanged;
  add(problem.scales.a, params.a, exchanged ? Operand::b_scale : Operand::a_scale);
  add(problem.scales.b, params.b, exchanged ? Operand::a_scale : Operand::b_scale);
}

void add_zeros(Launch& launch, GemmZeroParams& params, const GemmProblem& problem) {
  const auto add = [&](const OperandZero& zero, MatrixParams& to) {
    if (!zero.is_given) return;
    to = {zero.data, zero.line_stride, zero.k_stride, zero.batch_stride};
    relocate(launch, to.data, Operand::b_zero);
    launch.uses.add(matrix_use(Operand::b_zero, DType::u8, to, 1));
  };
  add(problem.scales.a.zero, params.a);
  add(problem.scales.b.zero, params.b);
}

}  // namespace quarry
