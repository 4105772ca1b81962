#include "operations/gemm/whole_question.hpp"

#include <bit>
#include <type_traits>

namespace quarry::detail::gemm {
namespace {

static_assert(std::has_unique_object_representations_v<WholeQuestion>);

/// What an address is a multiple of, 256 at most; 0 for null.
std::uint64_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return bits == 0 ? 0 : std::uint64_t{1} << std::countr_zero(bits | 256);
}

WholeQuestion::Walk walk(const MatrixParams& m, std::uint64_t access) {
  return {static_cast<std::uint64_t>(m.row_stride), static_cast<std::uint64_t>(m.column_stride),
          static_cast<std::uint64_t>(m.batch_stride), access};
}

WholeQuestion::Walk walk(const MatrixParams& m) { return walk(m, alignment_of(m.data)); }

WholeQuestion::Walk walk(const ProblemOperand& operand) {
  std::uint64_t access = operand.pointer_bytes;
  for (std::size_t i = 0; i < layout_count; ++i)
    access = access << 9 | std::uint64_t{operand.alignment[i]} << 1 | std::uint64_t{operand.fits[i]};
  static_assert(8 + 9 * layout_count <= 64);
  return walk(operand.matrix, access);
}

WholeQuestion::Walk walk(const OperandScale& s) {
  return {static_cast<std::uint64_t>(s.line_stride), static_cast<std::uint64_t>(s.k_stride),
          static_cast<std::uint64_t>(s.batch_stride), alignment_of(s.data)};
}

}  // namespace

WholeQuestion whole_question(const GemmProblem& p) {
  const EpilogueParams& e = p.epilogue;
  const auto number = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return {.operands = {walk(p.a), walk(p.b), walk(p.c), walk(p.out)},
          .epilogue = {walk(e.scale), walk(e.residual), walk(e.aux), {0, 0, 0, alignment_of(e.bias)}},
          .scales = {walk(p.scales.a), walk(p.scales.b)},
          .numbers = {number(e.alpha), number(e.beta), number(e.clamp_low), number(e.clamp_high),
                      number(e.leaky_slope)},
          .plain = Rules::question(p),
          .flags = (e.alpha_pointer != nullptr ? 1U : 0U) | (e.beta_pointer != nullptr ? 2U : 0U) |
                   (e.only_alpha ? 4U : 0U)};
}

}  // namespace quarry::detail::gemm
