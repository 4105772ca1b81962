#include "gemm/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "gemm/host.hpp"

namespace quarry {
namespace {

constexpr unsigned l2_line = 128;

/// @param stride in elements
unsigned long long stride_bytes(long long stride, DType type) {
  return static_cast<unsigned long long>(stride) * static_cast<unsigned>(bits_of(type)) / 8;
}

/// @param stride in elements, from line to line
double split_share(long long stride, DType type) {
  const unsigned long long bytes = stride_bytes(stride, type);
  const auto step = static_cast<unsigned>(bytes & (~bytes + 1) & (l2_line - 1));  // a power of two, or 0
  if (step == 0 || step == bytes) return 0;  // in the latter case, lines of L2 hold several
  return 1 - step * (1.0 / l2_line);
}

SplitLines split_lines(const ProblemOperand& operand, DType type) {
  return {split_share(operand.matrix.row_stride, type), split_share(operand.matrix.column_stride, type)};
}

/// Lines that the copy engine moves are multiples of 16 bytes.
bool are_crowded(long long stride, DType type) {
  const unsigned long long bytes = stride_bytes(stride, type);
  return bytes >= 16 && bytes < l2_line;
}

L2Lines lines_of(const ProblemOperand& operand, DType type) {
  return {split_lines(operand, type), are_crowded(operand.matrix.row_stride, type),
          are_crowded(operand.matrix.column_stride, type)};
}

/// Tiles have at least one element each, and clusters have at most 16 blocks. K is as long at most: some
/// kernels count the bytes of a line in 32 bits.
bool has_few_elements(const GemmProblem& problem) {
  constexpr std::int64_t most = grid_limit / 16;
  if (problem.k > most) return false;
  const std::int64_t elements = static_cast<std::int64_t>(problem.m) * problem.n;
  return elements <= most && elements * problem.batch <= most;
}

/// Far below what tensor maps take, far above what memory holds.
constexpr unsigned long long longest_stride = 1ULL << 36;

/// @param extent elements of a line that is contiguous across K
bool has_plain_strides(const MatrixParams& matrix, long long across, long long along, int extent) {
  const auto all = static_cast<unsigned long long>(across | along | matrix.batch_stride);
  return across > 0 && along > 0 && all < longest_stride && (across != 1 || along >= extent);
}

bool has_plain_strides(const GemmProblem& p) {
  const MatrixParams& a = p.a.matrix;
  const MatrixParams& b = p.b.matrix;
  return has_plain_strides(a, a.row_stride, a.column_stride, p.m) &&
         has_plain_strides(b, b.column_stride, b.row_stride, p.n);
}

/// Whether each column of B has a scale of its own, or is read as if: the columns of gated pairs in halves.
bool has_column_scales(const GemmProblem& p) {
  const OperandScale& b = p.scales.b;
  const bool is_scaled = p.scales.a.is_given || b.is_given || p.must_promote;
  if (is_scaled && p.wide.gated && !p.wide.eights) return true;
  return b.is_given && b.granularity != ScaleGranularity::tensor &&
         b.granularity != ScaleGranularity::block_128x128;
}

bool asks_for_little(const GemmProblem& p) {
  const Controls& c = p.controls;
  return !c.mode && !c.split_k_slices && !c.multiprocessors && !p.scales.a.is_given && !p.scales.b.is_given &&
         !p.must_promote && !p.has_arrays && !p.wide.has_any();
}

}  // namespace

bool is_plain(const GemmProblem& problem) {
  return has_few_elements(problem) && !is_empty(problem) && asks_for_little(problem) &&
         has_plain_strides(problem);
}

GemmTraffic traffic_of(const GemmProblem& problem) {
  const double m = problem.m;
  const double n = problem.n;
  const int matrices = epilogue_matrices(problem);
  const int element = bytes_of(problem.types.out) * matrices;
  const double lines =
      (m * bits_of(problem.types.a) / problem.repeats_a + n * bits_of(problem.types.b) / problem.repeats_b) /
      8;
  const double inputs = lines * problem.k;
  const double outputs = m * n * element;
  const bool is_computed =
      problem.expressed || problem.has_scale || problem.epilogue.clamps || problem.has_aux;
  const bool has_activation = problem.epilogue.activation != Activation::identity;
  const bool is_general = matrices > 1 || is_computed;
  const L2Lines lines_a = lines_of(problem.a, problem.types.a);
  const L2Lines lines_b = lines_of(problem.b, problem.types.b);
  const bool only_adds = problem.has_c != problem.has_residual && !is_computed && !has_activation;
  return {.inputs = inputs,
          .outputs = outputs,
          .all = (inputs + outputs) * problem.batch,
          .expression = m * n * problem.batch * bytes_of(problem.types.out) * problem.expression_matrices,
          .elements = m * n * problem.batch,
          .smaller = std::min(m, n) * problem.k * bits_of(problem.types.a) / 8,
          .element = element,
          .has_matrices = matrices > 1,
          .is_bare = !is_general && !has_activation,
          .has_whole_lines = lines_a.are_whole() && lines_b.are_whole(),
          .lines_a = lines_a,
          .lines_b = lines_b,
          .split_out = split_lines(problem.out, problem.types.out),
          .has_activation = has_activation,
          .is_general = is_general,
          .only_adds = only_adds,
          .adds_bias_too = only_adds && problem.has_bias,
          .has_column_scales = has_column_scales(problem),
          .is_wide = problem.wide.has_any(),
          .keeps_sums_alone = !is_empty(problem) && !problem.wide.has_lines(),
          .fits_any_grid = has_few_elements(problem),
          .is_plain = is_plain(problem)};
}

SplitKRoots split_k_roots(const GemmProblem& problem) {
  SplitKRoots roots;
  int tile = 1 << SplitKRoots::least_tile_log2;
  for (int i = 0; i < SplitKRoots::known; ++i) {
    roots.k_tiles[static_cast<std::size_t>(i)] = std::sqrt(tiles_along(problem.k, tile));
    tile *= 2;
  }
  roots.outputs_inverse = 1 / std::sqrt(static_cast<double>(problem.m) * problem.n * problem.batch);
  return roots;
}

}  // namespace quarry
