#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/arguments.hpp"
#include "fuzz/expression_tensors.hpp"
#include "fuzz/harness_list.hpp"
#include "operations/grouped_gemm/lab/operation.hpp"
#include "operations/grouped_gemm/lab/sizes.hpp"
#include "support/operation_rows.hpp"

namespace quarry::fuzz {
namespace {

/// Sizes of as many groups as there were: any numbers.
void change(std::vector<std::int32_t>& sizes, Input& input) {
  if (sizes.empty()) return;
  sizes[input.byte() % sizes.size()] = static_cast<std::int32_t>(input.number());
}

void change(GroupedGemmArguments& arguments, std::vector<std::int32_t>& sizes, Input& input) {
  const TensorView scales = TensorView::row_major(nullptr, DType::f32, {1, 1});
  const std::uint8_t kind = input.byte();
  if (kind >= 252) return change(arguments.tensors, input);
  if (kind >= 238) {
    arguments.expression = draw_expression(arguments.out, arguments.tensors, input);
    return;
  }
  switch (kind % 17) {
    case 0: change(arguments.a, input); break;
    case 1: change(arguments.b, input); break;
    case 2: change(arguments.out, input); break;
    case 3: change(arguments.c, arguments.out, input); break;
    case 4: change(arguments.sizes, input); break;
    case 5: arguments.sizes_are = input.word<SizesAre>(); break;
    case 6: arguments.zero_outside = input.coin(); break;
    case 7: arguments.clamp_host_sizes = input.coin(); break;
    case 8: change(arguments.a_scale, scales, input); break;
    case 9: arguments.a_scale_granularity = input.word<ScaleGranularity>(); break;
    case 10: change(arguments.b_scale, scales, input); break;
    case 11: arguments.b_scale_granularity = input.word<ScaleGranularity>(); break;
    case 12: change(arguments.accumulator, input); break;
    case 13: change(arguments.epilogue, arguments.out, input); break;
    case 14: arguments.expected_total = input.number(); break;
    case 15: arguments.expected_largest = input.number(); break;
    default: change(sizes, input); break;
  }
}

/// A problem of few rows, of any form.
lab::grouped_gemm::Problem small_groups(const detail::Row& row, std::uint64_t seed) {
  lab::Dice dice(seed);
  const OperandsMetadata& operands = row.metadata.operands;
  lab::grouped_gemm::Problem problem;
  problem.form = static_cast<GroupForm>(dice.between(0, 2));
  problem.groups = dice.between(1, 4);
  problem.n = dice.between(0, 24);
  (problem.form == GroupForm::ragged_k ? problem.m : problem.k) = dice.between(0, 40);
  problem.room = dice.between(0, 24);
  problem.sizes_are = static_cast<SizesAre>(dice.between(problem.form == GroupForm::masked ? 1 : 0, 1));
  problem.a.dtype = operands.a.dtype;
  problem.b.dtype = operands.b.dtype;
  problem.out.dtype = operands.out.dtype;
  problem.accumulator = operands.accumulator;
  if (operands.scales != ScaleSupport::none && problem.form != GroupForm::ragged_k) {
    problem.a_scale = ScaleGranularity::block_1x128;
    problem.b_scale = ScaleGranularity::block_128x128;
  }
  draw_sizes(problem, dice);
  return lab::grouped_gemm::Lab::stored(problem, row.metadata, seed);
}

}  // namespace

void grouped_gemm_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::rows_of(Operation::grouped_gemm);
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  const std::uint64_t seed = values.raw<std::uint16_t>();
  const std::uint16_t choice = values.raw<std::uint16_t>();
  lab::grouped_gemm::Problem problem = small_groups(row, seed);
  GroupedGemmArguments arguments = lab::grouped_gemm::Lab::arguments(problem);
  for (int changes = 0; changes < 16 && !values.empty(); ++changes) change(arguments, problem.sizes, values);
  try_arguments(arguments, row, choice, values, {Operand::sizes, std::as_bytes(std::span(problem.sizes))});
}

}  // namespace quarry::fuzz
