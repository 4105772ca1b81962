#include "fuzz/arguments.hpp"
#include "fuzz/expression_tensors.hpp"
#include "fuzz/harness_list.hpp"
#include "quarry/gemm.hpp"
#include "support/registry_problems.hpp"

namespace quarry::fuzz {
namespace {

void change(GemmArguments& arguments, Input& input) {
  const TensorView scales = TensorView::row_major(nullptr, DType::f32, {1, 1});
  switch (input.byte() % 15) {
    case 0: change(arguments.a, input); break;
    case 1: change(arguments.b, input); break;
    case 2: change(arguments.out, input); break;
    case 3: change(arguments.c, arguments.out, input); break;
    case 4: change(arguments.a_scale, scales, input); break;
    case 5: arguments.a_scale_granularity = input.word<ScaleGranularity>(); break;
    case 6: change(arguments.b_scale, scales, input); break;
    case 7: arguments.b_scale_granularity = input.word<ScaleGranularity>(); break;
    case 8: change(arguments.accumulator, input); break;
    case 9: arguments.math = input.word<Math>(); break;
    case 10: change(arguments.epilogue, arguments.out, input); break;
    case 11: arguments.expression = draw_expression(arguments.out, arguments.tensors, input); break;
    case 12: change(arguments.tensors, input); break;
    case 13: change(arguments.b_zero, TensorView::row_major(nullptr, DType::u8, {1, 1}), input); break;
    default: change(arguments.controls, input); break;
  }
}

}  // namespace

void gemm_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::gemm_rows();
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  test::Random random(values.raw<std::uint16_t>());
  const std::uint16_t choice = values.raw<std::uint16_t>();
  const test::ShapeLimits limits = {
      .m = 20, .n = 20, .k = 40, .alignment_bytes = 1 << values.byte() % 5, .arrays = true};
  GemmArguments arguments = test::random_shape(random, test::types_of(row), test::layouts_of(row), limits);
  arguments.math = row.metadata.design.math;
  for (int changes = 0; changes < 16 && !values.empty(); ++changes) change(arguments, values);
  try_arguments(arguments, row, choice, values);
}

}  // namespace quarry::fuzz
