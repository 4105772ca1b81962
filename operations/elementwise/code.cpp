#include "operations/elementwise/code.hpp"

#include <vector>

#include "operations/common/expression/device_code.hpp"
#include "operations/common/expression/tensors.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::elementwise {
namespace {

using expression::Extent;

/// "i == 0 ? DType::bf16 : DType::f32": the types by place.
std::string type_of_place(const std::vector<DType>& types) {
  std::string text;
  for (std::size_t i = 0; i + 1 < types.size(); ++i)
    text += "i == " + std::to_string(i) + " ? DType::" + std::string(to_string(types[i])) + " : ";
  return text + "DType::" + std::string(to_string(types.back()));
}

/// The parts of a struct for kernels, by an expression and the code of its values.
class Writer {
 public:
  Writer(const Expression& expression, const ExpressionCode& code, std::string_view name)
      : expression_(expression), code_(code), name_(name), inputs_(expression.inputs().size()) {
    for (const expression::Tensor& input : expression.inputs()) types_.push_back(input.dtype);
    for (const expression::Output& output : expression.outputs()) types_.push_back(output.tensor.dtype);
  }

  std::string by_element() const {
    return head("Params") +
           "  template <class Lane>\n  QUARRY_DEVICE static void element(const Lane& lane) {\n    " +
           code_.name + "::Inputs in;\n    " + code_.name + "::Groups groups;\n    " + code_.name +
           "::Lines lines;\n    " + code_.name + "::Outputs out;\n" + read_all() + "    " + code_.name +
           "::elements(in, groups, lines, out);\n" + write(Extent::element, false) + "  }\n};\n}\n";
  }

  std::string with_reductions() const {
    std::string has;
    for (std::size_t i = 0; i < expression_.outputs().size(); ++i) {
      if (expression_.outputs()[i].extent == Extent::element)
        has += (has.empty() ? "i == " : " || i == ") + std::to_string(inputs_ + i);
    }
    return head("ReducedElementwiseParams") + "  using Values = " + code_.name +
           ";\n  static constexpr bool has_elements([[maybe_unused]] int i) { return " +
           (has.empty() ? "false" : has) + "; }\n" +
           function("element_inputs", "[[maybe_unused]] Values::Inputs& in", read_all()) +
           function("element_outputs", "[[maybe_unused]] const Values::Outputs& out",
                    write(Extent::element, false)) +
           function("group_outputs", "[[maybe_unused]] const Values::Outputs& out",
                    write(Extent::group, true)) +
           finish("row", code_.row_inputs, Extent::row) +
           finish("column", code_.column_inputs, Extent::column) +
           finish("all", code_.all_inputs, Extent::all) + "};\n}\n";
  }

 private:
  std::string head(std::string_view params) const {
    return "namespace quarry {\n" + code_.text + "struct " + name_ +
           " {\n  template <class Params>\n  using Parameters = " + std::string(params) +
           ";\n  static constexpr int inputs = " + std::to_string(inputs_) +
           ";\n  static constexpr int tensors = " + std::to_string(types_.size()) +
           ";\n  static constexpr quarry::DType type([[maybe_unused]] int i) { return " +
           type_of_place(types_) + "; }\n" +
           (gathers(expression_) ? "  static constexpr int index_of([[maybe_unused]] int i) { return " +
                                       index_of_place(expression_) + "; }\n"
                                 : std::string());
  }

  static std::string function(const std::string& name, const std::string& more, const std::string& body) {
    return "  template <class Lane>\n  QUARRY_DEVICE static void " + name +
           "([[maybe_unused]] const Lane& lane, " + more + ") {\n" + body + "  }\n";
  }

  std::string read_all() const {
    std::string text;
    for (std::size_t i = 0; i < inputs_; ++i)
      text += "    in.x" + std::to_string(i) + " = lane.template input<" + std::to_string(i) + ">();\n";
    return text;
  }

  /// "DType::bf16, 2": a tensor of a place that has no other type.
  std::string typed(std::size_t tensor) const {
    return "DType::" + std::string(to_string(types_[tensor])) + ", " + std::to_string(tensor);
  }

  std::string write(Extent extent, bool is_place) const {
    std::string text;
    for (std::size_t i = 0; i < expression_.outputs().size(); ++i) {
      if (expression_.outputs()[i].extent != extent) continue;
      text += "    lane.template output<" + (is_place ? typed(inputs_ + i) : std::to_string(inputs_ + i)) +
              ">(out.out" + std::to_string(i) + ");\n";
    }
    return text;
  }

  std::string finish(const std::string& name, const std::vector<std::size_t>& inputs, Extent extent) const {
    std::string body = "    Values::Inputs in;\n    Values::Outputs out;\n";
    for (const std::size_t i : inputs)
      body += "    in.x" + std::to_string(i) + " = lane.template input<" + typed(i) + ">();\n";
    body += "    Values::finish_" + name + "(in, lines, out);\n" + write(extent, true);
    return function("finish_" + name, "const Values::Lines& lines", body);
  }

  const Expression& expression_;
  const ExpressionCode& code_;
  std::string name_;
  std::size_t inputs_;
  std::vector<DType> types_;
};

}  // namespace

Result<std::string> code_of(const Expression& expression, std::string_view name) {
  const Result<ExpressionCode> code = device_code(expression.graph(), std::string(name) + "_values");
  if (!code) return code.status();
  const Writer writer(expression, *code, name);
  return has_reductions(expression) ? writer.with_reductions() : writer.by_element();
}

}  // namespace quarry::detail::elementwise
