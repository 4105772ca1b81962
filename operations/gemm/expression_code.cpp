#include "operations/gemm/expression_code.hpp"

#include <algorithm>
#include <vector>

#include "operations/common/expression/device_code.hpp"
#include "operations/common/expression/rough.hpp"
#include "operations/common/expression/tensors.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::gemm {
namespace {

using expression::Extent;

std::string type_text(DType type) { return "DType::" + std::string(to_string(type)); }

/// The tensors' types by place: "i == 0 ? DType::bf16 : DType::f32".
std::string type_of_place(const std::vector<DType>& types) {
  std::string text;
  for (std::size_t i = 0; i + 1 < types.size(); ++i)
    text += "i == " + std::to_string(i) + " ? " + type_text(types[i]) + " : ";
  return text + type_text(types.empty() ? DType::f32 : types.back());
}

/// The parts of a struct for kernels, by an expression and the code of its values.
class Writer {
 public:
  Writer(const Expression& expression, const ExpressionCode& code, std::string_view name)
      : expression_(expression), code_(code), name_(name) {
    for (const expression::Tensor& input : expression.inputs()) types_.push_back(input.dtype);
    for (const expression::Output& output : expression.outputs()) {
      if (output.tensor.name == "out") {
        out_ = output.tensor.dtype;
      } else {
        types_.push_back(output.tensor.dtype);
      }
    }
  }

  std::string by_element() const {
    return head("WithExpression", "ExpressionEpilogue") +
           "  template <class Lane>\n  QUARRY_DEVICE static void element(const Lane& lane) {\n    " +
           code_.name + "::Inputs in;\n    " + code_.name + "::Groups groups;\n    " + code_.name +
           "::Lines lines;\n    " + code_.name + "::Outputs out;\n    in.sum = lane.sum();\n" +
           read_tensors() + "    " + code_.name + "::elements(in, groups, lines, out);\n" +
           write(Extent::element, false) + "  }\n};\n}\n";
  }

  /// With gated pairs or reductions.
  std::string wide() const {
    const std::string sums = expression_.is_gated()
                                 ? "    in.gate_sum = lane.gate();\n    in.up_sum = lane.up();\n"
                                 : "    in.sum = lane.sum();\n";
    return head("WithReductions", "WideEpilogue") +
           "  static constexpr bool is_gated = " + (expression_.is_gated() ? "true" : "false") + ";\n" +
           (expression_.pairs() == expression::Pairs::eights ? "  static constexpr bool has_eights = true;\n"
                                                             : "") +
           "  using Values = " + code_.name +
           ";\n  static constexpr bool has_elements([[maybe_unused]] int i) { return " + element_tensors() +
           "; }\n" + function("element_inputs", "Values::Inputs& in", sums + read_tensors()) +
           function("element_outputs", "const Values::Outputs& out", write(Extent::element, false)) +
           function("group_outputs", "[[maybe_unused]] const Values::Outputs& out",
                    write(Extent::group, true)) +
           finish("row", code_.row_inputs, Extent::row) +
           finish("column", code_.column_inputs, Extent::column) +
           finish("all", code_.all_inputs, Extent::all) + "};\n}\n";
  }

 private:
  std::string head(const std::string& params, const std::string& epilogue) const {
    return "namespace quarry {\n" + code_.text + "struct " + name_ +
           " {\n  static constexpr bool is_expression = true;\n  static constexpr int inputs = " +
           std::to_string(expression_.inputs().size()) +
           ";\n  static constexpr int tensors = " + std::to_string(types_.size()) +
           ";\n  static constexpr DType out = " + type_text(out_) +
           ";\n  static constexpr DType type([[maybe_unused]] int i) { return " + type_of_place(types_) +
           "; }\n  static constexpr bool is_vector([[maybe_unused]] int i) { return " + is_vector() +
           "; }\n" + indices() + "  static constexpr int operations = " + std::to_string(operations()) +
           ";\n  template <class Params>\n  using Parameters = " + params +
           "<Params>;\n"
           "  template <bool by_columns>\n  using Tensors = ExpressionTensors<" +
           name_ +
           ", by_columns>;\n  template <class Sum, class Out, EpilogueForm form>\n"
           "  using For = " +
           epilogue + "<" + name_ + ", Sum, Out, form>;\n";
  }

  /// Whether an input has a value for each row or for each column, and chooses no rows of others: "i == 1 ||
  /// i
  /// == 2".
  std::string is_vector() const {
    std::string text;
    for (std::size_t i = 0; i < expression_.inputs().size(); ++i) {
      const expression::Shape shape = *expression_.inputs()[i].shape;
      if (shape != expression::Shape::per_row && shape != expression::Shape::per_column) continue;
      if (is_index(i)) continue;
      text += (text.empty() ? "i == " : " || i == ") + std::to_string(i);
    }
    return text.empty() ? "false" : text;
  }

  /// Whether an input chooses rows of another one.
  bool is_index(std::size_t input) const {
    for (std::size_t i = 0; i < expression_.inputs().size(); ++i) {
      if (index_of(expression_.graph(), i) == static_cast<int>(input)) return true;
    }
    return false;
  }

  /// The function that says which input chooses the rows of which; nothing where none are gathered.
  std::string indices() const {
    if (!gathers(expression_)) return "";
    return "  static constexpr int index_of([[maybe_unused]] int i) { return " + index_of_place(expression_) +
           "; }\n";
  }

  std::ptrdiff_t operations() const {
    return std::ranges::count_if(expression_.graph().nodes, [](const Node& n) {
      return n.kind == NodeKind::call || n.kind == NodeKind::convert;
    });
  }

  std::string read_tensors() const {
    std::string text;
    for (std::size_t i = 0; i < expression_.inputs().size(); ++i) {
      const std::string number = std::to_string(i);
      text += "    in.x" + number + " = lane.template input<" + number + ">();\n";
    }
    return text;
  }

  static std::string function(const std::string& name, const std::string& more, const std::string& body) {
    return "  template <class Lane>\n  QUARRY_DEVICE static void " + name +
           "([[maybe_unused]] const Lane& lane, " + more + ") {\n" + body + "  }\n";
  }

  /// "DType::bf16, 2": a tensor of a place that has no other type.
  std::string typed(std::size_t tensor) const {
    return type_text(types_[tensor]) + ", " + std::to_string(tensor);
  }

  /// Calls `use` with the number among the outputs and that among the tensors of each output of an extent.
  template <class Use>
  void each_output(Extent extent, const Use& use) const {
    std::size_t tensor = expression_.inputs().size();
    for (std::size_t i = 0; i < expression_.outputs().size(); ++i) {
      const bool is_out = expression_.outputs()[i].tensor.name == "out";
      if (expression_.outputs()[i].extent == extent) use(i, tensor, is_out);
      if (!is_out) ++tensor;
    }
  }

  std::string element_tensors() const {
    std::string text = "i < inputs";
    each_output(Extent::element, [&](std::size_t, std::size_t tensor, bool is_out) {
      if (!is_out) text += " || i == " + std::to_string(tensor);
    });
    return text;
  }

  std::string write(Extent extent, bool is_place) const {
    std::string text;
    each_output(extent, [&](std::size_t i, std::size_t tensor, bool is_out) {
      const std::string number = is_place ? typed(tensor) : std::to_string(tensor);
      const std::string to = is_out ? "out" : "template output<" + number + ">";
      text += "    lane." + to + "(out.out" + std::to_string(i) + ");\n";
    });
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
  std::vector<DType> types_;
  DType out_ = DType::none;
};

}  // namespace

Result<std::string> code_of(const Expression& expression, std::string_view name) {
  const Result<ExpressionCode> code = device_code(expression.graph(), std::string(name) + "_values",
                                                  rough_nodes(expression.graph(), DType::none));
  if (!code) return code.status();
  const Writer writer(expression, *code, name);
  return is_wide(expression) ? writer.wide() : writer.by_element();
}

}  // namespace quarry::detail::gemm
