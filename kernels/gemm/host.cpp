#include "gemm/host.hpp"

#include <algorithm>
#include <bit>

#include "reduce_split_k/config.hpp"

namespace quarry {
namespace {

constexpr std::size_t workspace_alignment = 256;

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

/// The caller's name of an operand.
Operand callers(Operand operand, const GemmProblem& problem) {
  if (!problem.is_exchanged) return operand;
  return operand == Operand::a ? Operand::b : Operand::a;
}

/// Why an operand whose alignment is less than needed is refused. @param layout as which the kernel reads it
Status misaligned(const GemmProblem& problem, Operand name, Layout layout, int needed) {
  const ProblemOperand& operand = name == Operand::a ? problem.a : problem.b;
  const int given = operand.alignment[static_cast<int>(layout)];
  const Operand who = callers(name, problem);
  if (given > 0) return {StatusCode::unsupported, detail::Reason::alignment, who, needed, given};
  const Layout asked = problem.is_exchanged ? transposed(layout) : layout;
  return {StatusCode::unsupported, detail::Reason::layout, who, static_cast<int>(asked), -1};
}

/// Tiles of the output over all batch entries. @pre at most grid_limit
std::size_t all_tiles(const GemmTraits& kernel, const GemmProblem& problem) {
  return static_cast<std::size_t>(gemm_blocks(kernel, problem, 1));
}

std::string_view reduce_integers(DType out) {
  switch (out) {
    case DType::s32: return "reduce_split_k_s32_s32";
    case DType::s8: return "reduce_split_k_s32_s8";
    case DType::u8: return "reduce_split_k_s32_u8";
    case DType::f32: return "reduce_split_k_s32_f32";
    default: return {};
  }
}

std::string_view reduce_interleaved(DType out) {
  switch (out) {
    case DType::s32: return "reduce_split_k_s32_s32_interleaved32";
    case DType::s8: return "reduce_split_k_s32_s8_interleaved32";
    case DType::u8: return "reduce_split_k_s32_u8_interleaved32";
    case DType::f32: return "reduce_split_k_s32_f32_interleaved32";
    default: return {};
  }
}

std::string_view reduce_entry(DType partials, DType out, Layout layout) {
  if (is_interleaved(layout)) return reduce_interleaved(out);
  if (partials == DType::s32) return reduce_integers(out);
  const bool f64 = partials == DType::f64;
  switch (out) {
    case DType::f16: return f64 ? "reduce_split_k_f64_f16" : "reduce_split_k_f32_f16";
    case DType::bf16: return f64 ? "reduce_split_k_f64_bf16" : "reduce_split_k_f32_bf16";
    case DType::f32: return f64 ? "reduce_split_k_f64_f32" : "reduce_split_k_f32_f32";
    case DType::f64: return f64 ? "reduce_split_k_f64_f64" : "reduce_split_k_f32_f64";
    default: return {};
  }
}

/// The same reduction seen as that of the transposed output.
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

/// Makes the launch one of blocks that share all tiles.
void share(GemmLaunch& launch, const StreamShares& shares) {
  launch.grid = shares.blocks;
  if (shares.whole == shares.tiles) launch.params.mode = Mode::gemm;
}

void add_reduction(GemmLaunch& launch, const GemmTraits& kernel) {
  const GemmParams& params = launch.params;
  ReduceParams reduce = {.partials = nullptr,
                         .c = params.c,
                         .out = params.out,
                         .epilogue = params.epilogue,
                         .m = params.m,
                         .n = params.n,
                         .batch = params.batch,
                         .slices = params.slices};
  if (kernel.layouts.out == Layout::column) reduce = transposed(reduce);
  launch.reduce = {.params = reduce,
                   .grid = static_cast<unsigned>(reduce_split_k::blocks(reduce.m, reduce.n, reduce.batch)),
                   .threads = static_cast<unsigned>(reduce_split_k::threads({}))};
  launch.reduce_entry = reduce_entry(partial_type(kernel.accumulator), kernel.out, kernel.layouts.out);
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
    return {code, detail::Reason::shared_memory, Operand::none, kernel.shared_memory,
            device.shared_memory_per_block};
  }
  if (kernel.most_k != 0 && problem.k > kernel.most_k) {
    return {code, detail::Reason::k_limit, Operand::none, kernel.most_k, problem.k};
  }
  const int slices = problem.controls.split_k_slices.value_or(1);
  if (const int most = most_slices(kernel, problem); slices > 1 && slices > most) {
    return {code, detail::Reason::split_k_slices, Operand::none, most, slices};
  }
  return {code, detail::Reason::grid_limit, Operand::none, grid_limit, gemm_blocks(kernel, problem, slices)};
}

StreamShares gemm_shares(const GemmTraits& kernel, const GemmProblem& problem,
                         const ChosenControls& controls) {
  return stream_shares(controls.mode, static_cast<unsigned>(gemm_blocks(kernel, problem, 1)),
                       tiles_along(problem.k, kernel.tile.k),
                       static_cast<unsigned>(shared_blocks(kernel, problem, controls)));
}

GemmWorkspace gemm_workspace(const GemmTraits& kernel, const GemmProblem& problem,
                             const ChosenControls& controls) {
  GemmWorkspace workspace;
  const ChosenControls chosen = simplified(controls);
  if (chosen.mode == Mode::gemm || chosen.mode == Mode::split_k_cluster || is_empty(problem))
    return workspace;
  const auto number = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t element = number(bytes_of(partial_type(kernel.accumulator)));
  if (chosen.mode == Mode::split_k_parallel) {
    workspace.partials_bytes = element * number(chosen.split_k_slices) * number(problem.batch) *
                               number(problem.m) * number(problem.n);
  } else if (chosen.mode == Mode::stream_k) {
    const StreamShares shares = gemm_shares(kernel, problem, chosen);
    if (shares.whole == shares.tiles) return workspace;
    const std::size_t blocks = shares.blocks;
    workspace.partials_bytes = element * (blocks - 1) * number(kernel.tile.m) * number(kernel.tile.n);
    workspace.counters_bytes = sizeof(int) * blocks;
  } else {
    const std::size_t tiles = all_tiles(kernel, problem);
    workspace.partials_bytes = element * tiles * number(kernel.tile.m) * number(kernel.tile.n);
    workspace.counters_bytes = sizeof(int) * (tiles + 1);
  }
  workspace.counters_offset = rounded_up(workspace.partials_bytes);
  workspace.bytes = workspace.counters_offset + rounded_up(workspace.counters_bytes);
  return workspace;
}

GemmLaunch gemm_launch(const GemmTraits& kernel, const GemmProblem& problem, const ChosenControls& controls) {
  const ChosenControls chosen = simplified(controls);
  const int k_tiles = tiles_along(problem.k, kernel.tile.k);
  GemmLaunch launch;
  launch.threads = static_cast<unsigned>(kernel.threads);
  launch.shared_memory = static_cast<unsigned>(kernel.shared_memory);
  launch.params = {.a = problem.a.matrix,
                   .b = problem.b.matrix,
                   .c = problem.has_c ? problem.c.matrix : MatrixParams{},
                   .out = problem.out.matrix,
                   .epilogue = problem.epilogue,
                   .m = problem.m,
                   .n = problem.n,
                   .k = problem.k,
                   .batch = problem.batch,
                   .tiles_m = tiles_along(problem.m, kernel.tile.m),
                   .tiles_n = tiles_along(problem.n, kernel.tile.n),
                   .swizzle_log2 = std::countr_zero(static_cast<unsigned>(chosen.swizzle)),
                   .raster = chosen.raster,
                   .mode = chosen.mode,
                   .slices = chosen.split_k_slices,
                   .k_tiles_per_slice = tiles_along(k_tiles, chosen.split_k_slices),
                   .partials = nullptr,
                   .counters = nullptr};
  if (is_empty(problem)) return launch;
  launch.grid = static_cast<unsigned>(gemm_blocks(kernel, problem, chosen.split_k_slices));
  if (kernel.schedule == Schedule::stream_k) share(launch, gemm_shares(kernel, problem, chosen));
  const GemmWorkspace workspace = gemm_workspace(kernel, problem, chosen);
  launch.workspace_bytes = workspace.bytes;
  launch.counters_offset = workspace.counters_offset;
  launch.counters_bytes = workspace.counters_bytes;
  if (chosen.mode == Mode::split_k_parallel) add_reduction(launch, kernel);
  return launch;
}

void bind_workspace(GemmLaunch& launch, void* workspace) {
  if (launch.workspace_bytes == 0) return;
  launch.params.partials = workspace;
  if (launch.counters_bytes != 0) {
    launch.params.counters = reinterpret_cast<int*>(static_cast<char*>(workspace) + launch.counters_offset);
  }
  launch.reduce.params.partials = workspace;
}

}  // namespace quarry
