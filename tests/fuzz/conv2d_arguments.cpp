#include "fuzz/arguments.hpp"
#include "fuzz/harness_list.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "support/operation_rows.hpp"

namespace quarry::fuzz {
namespace {

void change(ImageAxes& axes, Input& input) { (input.coin() ? axes.height : axes.width) = input.number(); }

void change(Conv2dArguments& arguments, Input& input) {
  switch (input.byte() % 14) {
    case 0: change(arguments.a, input); break;
    case 1: change(arguments.b, input); break;
    case 2: change(arguments.out, input); break;
    case 3: change(arguments.c, arguments.out, input); break;
    case 4: arguments.direction = input.word<Direction>(); break;
    case 5: change(arguments.padding, input); break;
    case 6: change(arguments.stride, input); break;
    case 7: change(arguments.dilation, input); break;
    case 8: arguments.groups = input.number(); break;
    case 9: arguments.flips = input.coin(); break;
    case 10: change(arguments.accumulator, input); break;
    case 11: arguments.math = input.word<Math>(); break;
    case 12: change(arguments.controls, input); break;
    default: change(arguments.epilogue, arguments.out, input); break;
  }
}

/// A problem of so few products that a run takes a moment.
Conv2dArguments small_convolution(const detail::Row& row, std::uint64_t seed) {
  constexpr double most_products = 20000;
  lab::Dice dice(seed);
  const OperandsMetadata& operands = row.metadata.operands;
  lab::conv2d::Problem problem{.direction = row.metadata.direction.value_or(Direction::fprop),
                               .a = {.dtype = operands.a.dtype},
                               .b = {.dtype = operands.b.dtype},
                               .out = {.dtype = operands.out.dtype},
                               .accumulator = operands.accumulator,
                               .math = row.metadata.design.math};
  lab::conv2d::draw_windows(most_products, problem, dice);
  return lab::conv2d::Lab::arguments(lab::conv2d::Lab::stored(problem, row.metadata, seed));
}

}  // namespace

void conv2d_arguments(Bytes input) {
  Input values(input);
  const auto rows = test::rows_of(Operation::conv2d);
  const detail::Row& row = rows[values.raw<std::uint16_t>() % rows.size()];
  const std::uint64_t seed = values.raw<std::uint16_t>();
  const std::uint16_t choice = values.raw<std::uint16_t>();
  Conv2dArguments arguments = small_convolution(row, seed);
  for (int changes = 0; changes < 16 && !values.empty(); ++changes) change(arguments, values);
  try_arguments(arguments, row, choice, values);
}

}  // namespace quarry::fuzz
