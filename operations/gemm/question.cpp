#include <algorithm>
#include <bit>
#include <type_traits>

#include "operations/gemm/expression.hpp"
#include "operations/gemm/operation.hpp"

namespace quarry::detail::gemm {
namespace {

static_assert(std::has_unique_object_representations_v<Question>);

Question::Access access(const ProblemOperand& operand, DType type, int columns, int rows) {
  const long long long_stride = (1LL << 40) / unit_bytes(type);
  const bool long_batch = operand.matrix.batch_stride >= long_stride;
  const auto packed = [&](Layout layout, long long stride, int line) {
    const auto i = static_cast<std::size_t>(layout);
    const bool is_long = long_batch || stride >= long_stride;
    // Where lines begin in the 128 bytes that L2 keeps together.
    const auto bytes = static_cast<std::uint64_t>(stride) * static_cast<std::uint64_t>(bits_of(type)) / 8;
    const int begin = std::countr_zero(bytes | 128);
    const bool is_part = bytes == std::uint64_t{1} << begin;
    const auto alignment =
        static_cast<int>(std::bit_width(unsigned{operand.alignment[i]}));  // a power of two, or 0
    return static_cast<std::uint16_t>(begin << 10 | is_part << 9 | alignment << 4 | is_long << 3 |
                                      (stride == 0) << 2 | (stride < line) << 1 | operand.fits[i]);
  };
  const auto fits = [&](Layout layout) { return operand.fits[static_cast<std::size_t>(layout)]; };
  // Of an interleaved operand, which one it is; its groups never overlap.
  if (fits(Layout::row_interleaved32))
    return {
        static_cast<std::uint16_t>(packed(Layout::row_interleaved32, operand.matrix.row_stride, 0) | 1 << 13),
        0};
  if (fits(Layout::column_interleaved32))
    return {0, static_cast<std::uint16_t>(
                   packed(Layout::column_interleaved32, operand.matrix.column_stride, 0) | 1 << 13)};
  return {packed(Layout::row, operand.matrix.row_stride, columns),
          packed(Layout::column, operand.matrix.column_stride, rows)};
}

/// Which granularity of scales an operand has, and whether zero points.
std::uint8_t granularity(const OperandScale& scale) {
  const int zero = scale.zero.is_given ? 128 : 0;
  return static_cast<std::uint8_t>(scale.is_given ? (static_cast<int>(scale.granularity) + 1) | zero : 0);
}

/// The alignment of one of the epilogue's matrices, in three bits: of the layout in which it has the greatest
/// one, and 0 where it is absent.
std::uint32_t alignment(const ProblemOperand& operand) {
  std::uint32_t most = 0;
  for (const std::uint8_t each : operand.alignment)
    most = std::max(most, static_cast<std::uint32_t>(std::bit_width(unsigned{each})));
  return most & 7;
}

std::uint32_t epilogue_word(const GemmProblem& problem) {
  const EpilogueParams& e = problem.epilogue;
  const bool scale_varies = e.scale.row_stride != 0 || e.scale.column_stride != 0;
  std::uint32_t word = static_cast<std::uint32_t>(e.activation);
  const auto add = [&word](int bits, std::uint32_t value) { word = word << bits | value; };
  add(1, problem.has_bias);
  add(1, problem.has_bias && e.bias_axis == BiasAxis::row);
  add(1, problem.has_scale);
  add(1, scale_varies && e.scale.row_stride != 0);
  add(1, scale_varies);
  add(1, problem.has_residual);
  add(1, problem.has_aux);
  add(1, e.clamps);
  add(1, problem.has_c);
  add(3, problem.has_c ? alignment(problem.c) : 0);
  return word;
}

}  // namespace

std::uint64_t Rules::expression_hash_of(const GivenExpression& expressed) {
  return detail::expression_hash(expressed);
}

std::uint64_t Rules::expression_word_of(const GivenExpression& expressed) {
  return detail::expression_word(expressed);
}

std::int64_t Rules::tuning_question(const GemmProblem& problem, Question& question) {
  question = Rules::question(problem);
  question.m = 0;
  constexpr std::uint16_t kept = 0x1ff | 1 << 13;  // less where lines begin
  for (Question::Access* access : {&question.a, &question.b, &question.out}) {
    access->row &= kept;
    access->column &= kept;
  }
  return problem.m;
}

Question Rules::question(const GemmProblem& problem) {
  const Controls& controls = problem.controls;
  const auto word = [](const auto& control) {
    return static_cast<std::uint8_t>(control ? static_cast<int>(*control) + 1 : 0);
  };
  return {
      .m = problem.m,
      .n = problem.n,
      .k = problem.k,
      .batch = problem.batch,
      .a = access(problem.a, problem.types.a, problem.k, problem.m),
      .b = access(problem.b, problem.types.b, problem.n, problem.k),
      .out = access(problem.out, problem.types.out, problem.n, problem.m),
      .slices = controls.split_k_slices.value_or(0),
      .multiprocessors = controls.multiprocessors.value_or(0),
      .epilogue = epilogue_word(problem),
      .types = problem.types,
      .math = problem.math,
      .epilogue_matrices =
          static_cast<std::uint8_t>(epilogue_matrices(problem) + (problem.expressed ? 128 : 0)),
      .mode = word(controls.mode),
      .swizzle = static_cast<std::uint8_t>(controls.swizzle.value_or(0)),
      .raster = word(controls.raster),
      .has_arrays = static_cast<std::uint8_t>((problem.has_arrays ? 1 : 0) + (problem.must_promote ? 2 : 0)),
      .a_scale = granularity(problem.scales.a),
      .b_scale = granularity(problem.scales.b)};
}

}  // namespace quarry::detail::gemm
