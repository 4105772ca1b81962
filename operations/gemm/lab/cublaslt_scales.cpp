#include "operations/gemm/lab/cublaslt_scales.hpp"

#include <string>

#include "common/config_parts.hpp"
#include "gemm/operand_scale.hpp"
#include "operations/gemm/scales.hpp"

namespace quarry::lab::gemm {
namespace {

constexpr std::size_t first_with_blocks = 120900;
/// M and N, and the scales of 128 x 128 from one column to the next, are multiples of this.
constexpr std::int64_t scale_multiple = 4;

Status refused(const std::string& why) {
  return Status(StatusCode::unsupported, "cuBLASLt is not given the blocks of scales: " + why);
}

bool is_block_of_128(const std::optional<ScaleGranularity>& scale) {
  return scale && is_blocked(*scale) && !is_grouped(*scale);
}

/// "12.8" of 120803.
std::string version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
}

}  // namespace

bool has_blocks(const Problem& problem) {
  const auto has = [](const std::optional<ScaleGranularity>& scale) { return scale && is_blocked(*scale); };
  return has(problem.a_scale) || has(problem.b_scale);
}

Problem without_blocks(const Problem& problem) {
  Problem made = problem;
  made.a_scale = made.b_scale = std::nullopt;
  made.accumulation = Accumulation::precise;
  return made;
}

Status check_blocks(const Problem& problem, std::size_t version) {
  if (version < first_with_blocks) {
    return refused("it takes them from version " + version_text(first_with_blocks) + " on, and this is " +
                   version_text(version));
  }
  if (!is_block_of_128(problem.a_scale) || !is_block_of_128(problem.b_scale))
    return refused("it takes blocks of 128 of K, of A and B together");
  if (is_fp8(problem.out.dtype)) return refused("beside them, it has no outputs of 8 bits");
  if (problem.m % scale_multiple != 0 || problem.n % scale_multiple != 0)
    return refused("beside them, M and N must be multiples of " + std::to_string(scale_multiple));
  return {};
}

CublasLtScaleMode scale_mode(ScaleGranularity granularity) {
  switch (granularity) {
    case ScaleGranularity::tensor: return lt_scale_scalar;
    case ScaleGranularity::block_1x128: return lt_scale_block_1x128;
    case ScaleGranularity::block_128x128: return lt_scale_block_128x128;
    default: return lt_scale_vector;
  }
}

void store_scales(const Problem& problem, GemmArguments& arguments) {
  if (problem.b_scale != ScaleGranularity::block_128x128) return;
  const detail::MatrixExtents extents =
      detail::scale_extents(Operand::b_scale, *problem.b_scale, {problem.k, problem.n});
  const std::int64_t ld = (extents.rows + scale_multiple - 1) / scale_multiple * scale_multiple;
  arguments.b_scale = view_of({.dtype = DType::f32, .layout = Layout::column, .ld = ld}, problem.batch,
                              extents.rows, extents.columns);
}

}  // namespace quarry::lab::gemm
