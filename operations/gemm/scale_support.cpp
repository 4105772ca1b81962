#include "operations/gemm/scale_support.hpp"

namespace quarry::detail {
namespace {

constexpr auto unsupported = StatusCode::unsupported;

/// The caller's name of the scales of this problem's A or B.
Operand scale_name(const GemmProblem& problem, bool of_a) {
  return of_a != problem.is_exchanged ? Operand::a_scale : Operand::b_scale;
}

/// Why a problem with scales is refused by a kernel that reads none.
Status no_scales(const GemmProblem& problem) {
  const OperandScale& of_a = problem.is_exchanged ? problem.scales.b : problem.scales.a;
  return {unsupported, Reason::no_operand, of_a.is_given ? Operand::a_scale : Operand::b_scale};
}

/// The granularity of scales that kernels read by blocks.
ScaleGranularity granularity_of(const ScaleParams& params) {
  if (params.lines_log2 > 0) return ScaleGranularity::block_128x128;
  for (const auto grouped : {ScaleGranularity::block_1x32, ScaleGranularity::block_1x64}) {
    if (1 << params.k_log2 == k_positions(grouped)) return grouped;
  }
  return ScaleGranularity::block_1x128;
}

/// The zero points in an image of a launch.
OperandZero launched_zero(const Launch& launch, const std::byte* image) {
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.source != Operand::b_zero) continue;
    const auto& values = *reinterpret_cast<const MatrixParams*>(image + relocation.at);
    return {values.data, values.row_stride, values.column_stride, values.batch_stride, true};
  }
  return {};
}

/// The scales of an operand in an image of a launch, which has their parameters where it has their pointer.
OperandScale launched_scale(const Launch& launch, const std::byte* image, Operand name, bool by_block) {
  for (const Relocation& relocation : launch.relocations) {
    if (relocation.source != name) continue;
    const auto& params = *reinterpret_cast<const ScaleParams*>(image + relocation.at);
    return {.data = params.values.data,
            .line_stride = params.values.row_stride,
            .k_stride = params.values.column_stride,
            .batch_stride = params.values.batch_stride,
            .is_given = true,
            .granularity = by_block ? granularity_of(params) : ScaleGranularity::row};
  }
  return {};
}

}  // namespace

namespace {

/// Whether a kernel takes the zero points of a problem; one that takes some needs some, where something is
/// multiplied.
Status check_zeros(ScaleSupport kernel, const GemmProblem& problem) {
  const bool takes_zeros = kernel == ScaleSupport::zero_points;
  if (takes_zeros == has_zeros(problem.scales) || problem.k == 0) return {};
  return {unsupported, takes_zeros ? Reason::missing : Reason::no_operand, Operand::b_zero};
}

}  // namespace

Status check_scales(ScaleSupport kernel, const GemmProblem& problem) {
  const auto& [a, b] = problem.scales;
  const bool has_scales = a.is_given || b.is_given;
  if (kernel == ScaleSupport::none) return has_scales ? no_scales(problem) : Status();
  const bool may_lack_scales = problem.k == 0 || kernel == ScaleSupport::group_scales ||
                               (kernel == ScaleSupport::block_scales && problem.must_promote);
  if (!has_scales && !may_lack_scales) return {unsupported, Reason::granularity, Operand::a_scale, 0, -1};
  const auto is_taken = [&](const OperandScale& scale) {
    if (!scale.is_given || takes_groups(kernel)) return true;
    return kernel == ScaleSupport::block_scales ? !is_grouped(scale.granularity)
                                                : !is_blocked(scale.granularity);
  };
  if (is_taken(a) && is_taken(b)) return check_zeros(kernel, problem);
  const bool of_a = !is_taken(a);
  const ScaleGranularity granularity = of_a ? a.granularity : b.granularity;
  const int expected = kernel == ScaleSupport::block_scales ? scale_block : 0;
  return {unsupported, Reason::granularity, scale_name(problem, of_a), expected,
          static_cast<int>(granularity)};
}

OperandScales launched_scales(const Row& row, const Launch& launch, const std::byte* image) {
  const bool by_block = takes_blocks(row.metadata.operands.scales);
  const OperandScale a = launched_scale(launch, image, Operand::a_scale, by_block);
  OperandScale b = launched_scale(launch, image, Operand::b_scale, by_block);
  b.zero = launched_zero(launch, image);
  return row.exchanged ? OperandScales{b, a} : OperandScales{a, b};
}

}  // namespace quarry::detail
