#include "operations/elementwise/code.hpp"

#include <vector>

#include "operations/common/expression/device_code.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::elementwise {
namespace {

/// "i == 0 ? DType::bf16 : DType::f32": the types by place.
std::string type_of_place(const std::vector<DType>& types) {
  std::string text;
  for (std::size_t i = 0; i + 1 < types.size(); ++i)
    text += "i == " + std::to_string(i) + " ? DType::" + std::string(to_string(types[i])) + " : ";
  return text + "DType::" + std::string(to_string(types.back()));
}

}  // namespace

Result<std::string> code_of(const Expression& expression, std::string_view name) {
  const std::string values = std::string(name) + "_values";
  const Result<ExpressionCode> code = device_code(expression.graph(), values);
  if (!code) return code.status();
  std::vector<DType> types;
  for (const expression::Tensor& input : expression.inputs()) types.push_back(input.dtype);
  for (const expression::Output& output : expression.outputs()) types.push_back(output.tensor.dtype);

  const std::size_t inputs = expression.inputs().size();
  std::string element;
  for (std::size_t i = 0; i < inputs; ++i)
    element += "    in.x" + std::to_string(i) + " = lane.template input<" + std::to_string(i) + ">();\n";
  element += "    " + values + "::elements(in, groups, lines, out);\n";
  for (std::size_t i = 0; i < expression.outputs().size(); ++i) {
    element +=
        "    lane.template output<" + std::to_string(inputs + i) + ">(out.out" + std::to_string(i) + ");\n";
  }
  return "namespace quarry {\n" + code->text + "struct " + std::string(name) +
         " {\n  template <class Params>\n  using Parameters = Params;\n  static constexpr int inputs = " +
         std::to_string(inputs) + ";\n  static constexpr int tensors = " + std::to_string(types.size()) +
         ";\n  static constexpr quarry::DType type([[maybe_unused]] int i) { return " + type_of_place(types) +
         "; }\n  template <class Lane>\n  QUARRY_DEVICE static void element(const Lane& lane) {\n    " +
         values + "::Inputs in;\n    " + values + "::Groups groups;\n    " + values + "::Lines lines;\n    " +
         values + "::Outputs out;\n" + element + "  }\n};\n}\n";
}

}  // namespace quarry::detail::elementwise
