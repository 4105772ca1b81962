#include "operations/gemm/lab/paths.hpp"

#include <algorithm>
#include <iterator>

#include "gemm/params.hpp"
#include "operations/gemm/lab/expression.hpp"
#include "operations/gemm/lab/operation.hpp"

namespace quarry::lab::gemm {
namespace {

/// A path of GEMMs alone.
struct OwnPath {
  Path path;
  void (*draw)(Problem& problem, const Extent3& tile, Dice& dice);
  bool has_scales = true;  ///< whether operands may get scales, where the kernel takes some
  bool draws_expression = false;
};

/// Sums that are cut into slices. The last tile of K is not whole.
template <Mode mode>
void cut_k(Problem& problem, const Extent3& tile, Dice& dice) {
  problem.k = 2 * tile.k + dice.between(1, tile.k);
  problem.controls.mode = mode;
  problem.controls.split_k_slices = static_cast<int>(dice.between(2, 4));
}

/// Partial sums of lines with an odd number of elements, too: their pairs are not aligned.
void cut_in_parallel(Problem& problem, const Extent3& tile, Dice& dice) {
  cut_k<Mode::split_k_parallel>(problem, tile, dice);
  if (is_interleaved(problem.out.layout) || !dice.one_in(2)) return;
  (problem.out.layout == Layout::row ? problem.n : problem.m) |= 1;
}

/// Tiles are cut where they do not come out even: an odd number of them, for an even number of blocks. Twice
/// a tile and a little more are an odd number of tiles, of smaller ones too whose extents are powers of two.
void cut_tiles(Problem& problem, const Extent3& tile, Dice& dice) {
  cut_k<Mode::stream_k>(problem, tile, dice);
  const OutputExtents little = {dice.between(1, 16), dice.between(1, 16)};
  const bool by_rows = has_contiguous_rows(problem.out.layout);
  problem.m = 2 * tile.m + (by_rows ? little.m : 16);
  problem.n = 2 * tile.n + (by_rows ? 16 : little.n);
  problem.controls.multiprocessors = 2;
}

/// Whether blocks walk over several tiles.
bool walks_tiles(const KernelMetadata& kernel) {
  return kernel.design.schedule && *kernel.design.schedule != Schedule::one_tile;
}

/// Many more tiles than blocks at work, of one K tile each, and C beside them: what a block fetches of a tile
/// meets what other blocks of its cluster do for the next ones.
void draw_queue(Problem& problem, const Extent3& tile, Dice& dice) {
  problem.m = 8 * tile.m + (has_contiguous_rows(problem.out.layout) ? dice.between(1, 16) : 16);
  problem.n = 4 * tile.n;
  problem.k = dice.between(1, tile.k);
  problem.epilogue.beta = 1;
  problem.epilogue.c = problem.out;
}

/// Matrices of an array are not interleaved.
bool finds_arrays(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return kernel.modes.array &&
         !(is_interleaved(o.a.layout) && is_interleaved(o.b.layout) && is_interleaved(o.out.layout));
}

void draw_arrays(Problem& problem, const Extent3&, Dice& dice) {
  problem.batch = dice.between(2, 3);
  problem.a.array = problem.b.array = true;
  problem.out.array = !is_interleaved(problem.out.layout);
  problem.epilogue.beta = 1;
  problem.epilogue.c = problem.out;
}

/// Scales of both operands, over more than two blocks of K, the last one short.
template <ScaleGranularity of_a, ScaleGranularity of_b>
void scale(Problem& problem, const Extent3& tile, Dice& dice) {
  problem.a_scale = of_a;
  problem.b_scale = of_b;
  problem.k = std::max<std::int64_t>(2 * tile.k, 2 * scale_block) + dice.between(1, scale_block - 1);
}

/// Scales of A alone.
void scale_a(Problem& problem, const Extent3& tile, Dice& dice) {
  scale<ScaleGranularity::row, ScaleGranularity::tensor>(problem, tile, dice);
  problem.b_scale = std::nullopt;
}

/// Weights without scales, over several groups of K.
void draw_unscaled(Problem& problem, const Extent3& tile, Dice& dice) {
  problem.k = std::max<std::int64_t>(2 * tile.k, 2 * scale_block) + dice.between(1, scale_block - 1);
}

/// Scales and zero points of B alone.
template <ScaleGranularity of_b>
void scale_with_zeros(Problem& problem, const Extent3& tile, Dice& dice) {
  scale<ScaleGranularity::tensor, of_b>(problem, tile, dice);
  problem.a_scale = std::nullopt;
}

bool takes_scales(const KernelMetadata& kernel) { return kernel.operands.scales != ScaleSupport::none; }
bool takes_groups(const KernelMetadata& kernel) { return quarry::takes_groups(kernel.operands.scales); }
bool takes_blocks(const KernelMetadata& kernel) { return quarry::takes_blocks(kernel.operands.scales); }
bool takes_zeros(const KernelMetadata& kernel) { return kernel.operands.scales == ScaleSupport::zero_points; }
/// Zero points need scales of B.
bool takes_scales_of_a(const KernelMetadata& kernel) { return takes_scales(kernel) && !takes_zeros(kernel); }

bool promotes(const KernelMetadata& kernel) {
  return takes_blocks(kernel) && is_fp8(kernel.operands.a.dtype);
}
/// Sums that are promoted, of operands without scales.
void draw_precise(Problem& problem, const Extent3& tile, Dice& dice) {
  problem.accumulation = Accumulation::precise;
  problem.k = std::max<std::int64_t>(2 * tile.k, 2 * scale_block) + dice.between(1, scale_block - 1);
}

/// An expression, in whole tiles of K or in slices.
void draw_with_expression(Problem& problem, const Extent3& tile, Dice& dice) {
  if (dice.one_in(3)) {
    cut_k<Mode::split_k_serial>(problem, tile, dice);
  } else if (dice.one_in(3)) {
    problem.batch = 2;
  }
  if (dice.one_in(4)) problem.out.alignment = 1;
  draw_expression(problem, dice);
}

/// An expression that reads rows of tables, also in the reduction of slices.
void draw_gathered(Problem& problem, const Extent3& tile, Dice& dice) {
  if (dice.one_in(3)) {
    cut_k<Mode::split_k_serial>(problem, tile, dice);
  } else if (dice.one_in(3)) {
    cut_k<Mode::split_k_parallel>(problem, tile, dice);
  } else if (dice.one_in(2)) {
    problem.batch = 2;
  }
  if (dice.one_in(4)) problem.out.alignment = 1;
  draw_gathered_expression(problem, dice);
}

bool reduces_with_expression(const KernelMetadata& kernel) {
  return takes_expressions(kernel) && kernel.modes.split_k_parallel;
}
/// An expression of what a reduction adds up.
void draw_reduced_expression(Problem& problem, const Extent3& tile, Dice& dice) {
  cut_k<Mode::split_k_parallel>(problem, tile, dice);
  if (dice.one_in(3)) problem.batch = 2;
  if (dice.one_in(4)) problem.out.alignment = 1;
  draw_expression(problem, dice);
}

/// An expression with gated pairs or reductions.
constexpr WideParts of_lines = {.lines = true};
constexpr WideParts of_groups = {.lines = true, .groups = true};
constexpr WideParts of_pairs = {.pairs = true};
constexpr WideParts of_pair_lines = {.lines = true, .pairs = true};
constexpr WideParts of_eights = {.pairs = true, .eights = true};
constexpr WideParts of_eights_lines = {.lines = true, .pairs = true, .eights = true};

template <WideParts parts>
bool takes_parts(const KernelMetadata& kernel) {
  return takes_wide(kernel, parts);
}
template <WideParts parts>
void draw_wide(Problem& problem, const Extent3& tile, Dice& dice) {
  if (dice.one_in(3)) {
    cut_k<Mode::split_k_serial>(problem, tile, dice);
  } else if (dice.one_in(3)) {
    problem.batch = 2;
  }
  draw_wide_expression(problem, parts, dice);
}

using enum ScaleGranularity;
constexpr OwnPath own_paths[] = {
    {{"split_k_serial", [](const KernelMetadata& kernel) { return kernel.modes.split_k_serial; }},
     cut_k<Mode::split_k_serial>},
    {{"split_k_parallel", [](const KernelMetadata& kernel) { return kernel.modes.split_k_parallel; }},
     cut_in_parallel},
    {{"split_k_cluster", [](const KernelMetadata& kernel) { return kernel.modes.split_k_cluster; }},
     cut_k<Mode::split_k_cluster>},
    {{"stream_k", [](const KernelMetadata& kernel) { return kernel.modes.stream_k; }}, cut_tiles},
    {{"queue", walks_tiles}, draw_queue},
    {{"array", finds_arrays}, draw_arrays},
    {{"scales_tensor", takes_scales}, scale<tensor, tensor>},
    {{"scales_vector", takes_scales}, scale<row, column>},
    {{"scales_1x128_128x128", takes_blocks}, scale<block_1x128, block_128x128>},
    {{"scales_1x128_1x128", takes_blocks}, scale<block_1x128, block_1x128>},
    {{"scales_1x32", takes_groups}, scale<row, block_1x32>},
    {{"scales_1x64", takes_groups}, scale<row, block_1x64>},
    {{"scales_1x64_1x32", takes_groups}, scale<block_1x64, block_1x32>},
    {{"scales_a", takes_scales_of_a}, scale_a},
    {{"unscaled", may_lack_scales}, draw_unscaled, false},
    {{"zeros_tensor", takes_zeros}, scale_with_zeros<tensor>},
    {{"zeros_column", takes_zeros}, scale_with_zeros<column>},
    {{"zeros_1x32", takes_zeros}, scale_with_zeros<block_1x32>},
    {{"zeros_1x64", takes_zeros}, scale_with_zeros<block_1x64>},
    {{"zeros_1x128", takes_zeros}, scale_with_zeros<block_1x128>},
    {{"zeros_128x128", takes_zeros}, scale_with_zeros<block_128x128>},
    {{"precise", promotes}, draw_precise},
    {{"expression", takes_expressions}, draw_with_expression, true, true},
    {{"expression_parallel", reduces_with_expression}, draw_reduced_expression, true, true},
    {{"gathered", takes_expressions}, draw_gathered, true, true},
    {{"reductions", takes_parts<of_lines>}, draw_wide<of_lines>, true, true},
    {{"groups", takes_parts<of_groups>}, draw_wide<of_groups>, true, true},
    {{"gated", takes_parts<of_pairs>}, draw_wide<of_pairs>, true, true},
    {{"gated_reductions", takes_parts<of_pair_lines>}, draw_wide<of_pair_lines>, true, true},
    {{"eights", takes_parts<of_eights>}, draw_wide<of_eights>, true, true},
    {{"eights_reductions", takes_parts<of_eights_lines>}, draw_wide<of_eights_lines>, true, true},
};

/// Draws a problem of a path. Scales of blocks stand in front of an expression: its sums are of another type
/// with them. K has several blocks, mostly, whatever else says how long it is.
void draw_own(const OwnPath& path, const KernelMetadata& kernel, const Extent3& tile, Problem& problem,
              Dice& dice) {
  const bool promotes = path.draws_expression && promotes_beside_expressions(kernel);
  if (promotes) draw_promotion(problem, dice);
  path.draw(problem, tile, dice);
  if (promotes && !dice.one_in(4)) problem.k += scale_block * dice.between(1, 2);
}

}  // namespace

bool may_lack_scales(const KernelMetadata& kernel) {
  return kernel.operands.scales == ScaleSupport::group_scales;
}

bool draws_scales(std::int64_t path) {
  const std::int64_t own = path - std::ssize(output_paths());
  return own < 0 || own_paths[own].has_scales;
}

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OutputPath& each : output_paths()) all.push_back(each.path);
  for (const OwnPath& each : own_paths) all.push_back(each.path);
  return all;
}

std::int64_t path_count() { return std::ssize(output_paths()) + std::ssize(own_paths); }

void draw_path(std::int64_t path, const KernelMetadata& kernel, const Extent3& tile, Problem& problem,
               Dice& dice) {
  const OperandsMetadata& operands = kernel.operands;
  problem.out.layout = operands.out.layout;
  const OutputExtents extents =
      extents_around({tile.m, tile.n}, operands.out.dtype, operands.out.layout, dice);
  problem.m = extents.m;
  problem.n = extents.n;
  problem.k = dice.between(17, 100);
  problem.controls.mode = Mode::gemm;
  begin_path(problem.out, problem.epilogue, dice);
  const std::int64_t own = path - std::ssize(output_paths());
  if (own >= 0) return draw_own(own_paths[own], kernel, tile, problem, dice);
  OutputParts parts = {problem.batch, problem.out, problem.epilogue, problem.compute()};
  output_paths()[static_cast<std::size_t>(path)].draw(parts, dice);
}

}  // namespace quarry::lab::gemm
