#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/arguments.hpp"
#include "fuzz/expression_tensors.hpp"
#include "fuzz/harness_list.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "operations/gemm_list/lab/sizes.hpp"
#include "support/operation_rows.hpp"

namespace quarry::fuzz {
namespace {

/// Sizes of as many problems as there were: any numbers.
void change(std::vector<ListExtents>& sizes, Input& input) {
  if (sizes.empty()) return;
  ListExtents& one = sizes[input.byte() % sizes.size()];
  int* const extents[] = {&one.m, &one.n, &one.k};
  *extents[input.byte() % list_extents] = static_cast<int>(input.number());
}

void change(GemmListArguments& arguments, std::vector<ListExtents>& sizes, Input& input) {
  const TensorView leading =
      TensorView::row_major(nullptr, DType::s32, {static_cast<std::int64_t>(sizes.size()), list_matrices});
  const TensorView scales = TensorView::row_major(nullptr, DType::f32, {1, 1});
  const std::uint8_t kind = input.byte();
  if (kind >= 252) return change(arguments.tensors, input);
  if (kind >= 238) {
    arguments.expression = draw_expression(arguments.out, arguments.tensors, input);
    return;
  }
  switch (kind % 18) {
    case 0: change(arguments.a, input); break;
    case 1: change(arguments.b, input); break;
    case 2: change(arguments.out, input); break;
    case 3: change(arguments.c, arguments.out, input); break;
    case 4: change(arguments.sizes, input); break;
    case 5: change(arguments.leading, leading, input); break;
    case 6: arguments.clamp_host_sizes = input.coin(); break;
    case 7: change(arguments.accumulator, input); break;
    case 8: change(arguments.epilogue, arguments.out, input); break;
    case 9:
      arguments.host_sizes = arguments.host_sizes.first(input.byte() % (arguments.host_sizes.size() + 1));
      break;
    case 10: arguments.clamp_host_sizes = true; break;
    case 11: arguments.schedule = input.word<ListSchedule>(); break;
    case 12: change(arguments.a_scale, scales, input); break;
    case 13: arguments.a_scale_granularity = input.word<ScaleGranularity>(); break;
    case 14: change(arguments.b_scale, scales, input); break;
    case 15: arguments.b_scale_granularity = input.word<ScaleGranularity>(); break;
    case 16: arguments.leading_alignment = static_cast<int>(input.number()); break;
    default: change(sizes, input); break;
  }
}

/// A few small problems.
lab::gemm_list::Problem small_list(const detail::Row& row, std::uint64_t seed) {
  lab::Dice dice(seed);
  const OperandsMetadata& operands = row.metadata.operands;
  const auto extent = [&](std::int64_t most) { return static_cast<int>(dice.between(0, most)); };
  lab::gemm_list::Problem problem;
  problem.bounds = {extent(24), extent(24), extent(40)};
  problem.a.dtype = operands.a.dtype;
  problem.b.dtype = operands.b.dtype;
  problem.out.dtype = operands.out.dtype;
  problem.a.array = problem.b.array = problem.out.array = dice.one_in(2);
  problem.accumulator = operands.accumulator;
  if (operands.scales != ScaleSupport::none) {
    problem.a_scale = ScaleGranularity::block_1x128;
    problem.b_scale = ScaleGranularity::block_128x128;
  }
  draw_sizes(problem, dice.between(1, 4), dice);
  return lab::gemm_list::Lab::stored(problem, row.metadata, seed);
}

}  // namespace

void gemm_list_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::rows_of(Operation::gemm_list);
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  const std::uint64_t seed = values.raw<std::uint16_t>();
  const std::uint16_t choice = values.raw<std::uint16_t>();
  lab::gemm_list::Problem problem = small_list(row, seed);
  GemmListArguments arguments = lab::gemm_list::Lab::arguments(problem);
  for (int changes = 0; changes < 16 && !values.empty(); ++changes) change(arguments, problem.sizes, values);
  static_assert(sizeof(ListExtents) == list_extents * sizeof(std::int32_t));
  try_arguments(arguments, row, choice, values, {Operand::sizes, std::as_bytes(std::span(problem.sizes))});
}

}  // namespace quarry::fuzz
