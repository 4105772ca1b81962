#include "lab/problems/kernel_problem.hpp"

#include "lab/code/layout_text.hpp"

namespace quarry::lab {

Result<Problem> problem_for(const Kernel& kernel, const std::string& shape_word, SettingTexts settings) {
  const Operation operation = kernel.metadata().operation;
  const Result<Shape> shape = parse_shape(shape_word, operation);
  if (!shape) return shape.status();
  const OperandsMetadata& operands = kernel.metadata().operands;
  if (operation == Operation::reduce_split_k) {
    settings.try_emplace("partials", to_string(operands.accumulator));
    settings.try_emplace("out", to_string(operands.out.dtype));
    return make_problem(*shape, settings, operation);
  }
  const auto spec = [](DType type, Layout layout) {
    return std::string(to_string(type)).append(":").append(layout_word(layout));
  };
  settings.try_emplace("a", spec(operands.a.dtype, operands.a.layout));
  settings.try_emplace("b", spec(operands.b.dtype, operands.b.layout));
  settings.try_emplace("out", spec(operands.out.dtype, operands.out.layout));
  settings.try_emplace("accumulator", to_string(operands.accumulator));
  settings.try_emplace("math", to_string(kernel.metadata().design.math));
  return make_problem(*shape, settings);
}

}  // namespace quarry::lab
