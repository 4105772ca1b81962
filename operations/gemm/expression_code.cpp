#include "operations/gemm/expression_code.hpp"

#include <vector>

#include "operations/common/expression/device_code.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::gemm {
namespace {

std::string type_text(DType type) { return "DType::" + std::string(to_string(type)); }

/// The tensors' types by place: "i == 0 ? DType::bf16 : DType::f32".
std::string type_of_place(const std::vector<DType>& types) {
  std::string text;
  for (std::size_t i = 0; i + 1 < types.size(); ++i)
    text += "i == " + std::to_string(i) + " ? " + type_text(types[i]) + " : ";
  return text + type_text(types.empty() ? DType::f32 : types.back());
}

/// The body of `element`.
std::string element_text(const Expression& expression, const std::string& values) {
  std::string text = "    " + values + "::Inputs in;\n    " + values + "::Groups groups;\n    " + values +
                     "::Lines lines;\n    " + values + "::Outputs out;\n    in.sum = lane.sum();\n";
  std::size_t tensor = 0;
  for (; tensor < expression.inputs().size(); ++tensor) {
    const std::string number = std::to_string(tensor);
    text += "    in.x" + number + " = lane.template input<" + number + ">();\n";
  }
  text += "    " + values + "::elements(in, groups, lines, out);\n";
  for (std::size_t i = 0; i < expression.outputs().size(); ++i) {
    const bool is_out = expression.outputs()[i].tensor.name == "out";
    const std::string to = is_out ? "out" : "template output<" + std::to_string(tensor++) + ">";
    text += "    lane." + to + "(out.out" + std::to_string(i) + ");\n";
  }
  return text;
}

}  // namespace

Result<std::string> code_of(const Expression& expression, std::string_view name) {
  const std::string values = std::string(name) + "_values";
  const Result<ExpressionCode> code = device_code(expression.graph(), values);
  if (!code) return code.status();
  std::vector<DType> types;
  DType out = DType::none;
  for (const expression::Tensor& input : expression.inputs()) types.push_back(input.dtype);
  for (const expression::Output& output : expression.outputs()) {
    if (output.tensor.name == "out") {
      out = output.tensor.dtype;
    } else {
      types.push_back(output.tensor.dtype);
    }
  }
  const std::string self(name);
  return "namespace quarry {\n" + code->text + "struct " + self +
         " {\n  static constexpr bool is_expression = true;\n  static constexpr int inputs = " +
         std::to_string(expression.inputs().size()) +
         ";\n  static constexpr int tensors = " + std::to_string(types.size()) +
         ";\n  static constexpr DType out = " + type_text(out) +
         ";\n  static constexpr DType type([[maybe_unused]] int i) { return " + type_of_place(types) +
         "; }\n  template <class Params>\n  using Parameters = WithExpression<Params>;\n"
         "  template <bool by_columns>\n  using Tensors = ExpressionTensors<" +
         self +
         ", by_columns>;\n  template <class Sum, class Out, EpilogueForm form>\n"
         "  using For = ExpressionEpilogue<" +
         self +
         ", Sum, Out, form>;\n  template <class Lane>\n  QUARRY_DEVICE static void element(const Lane& lane) "
         "{\n" +
         element_text(expression, values) + "  }\n};\n}\n";
}

}  // namespace quarry::detail::gemm
