#include "lab/expression/random.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "operations/common/expression/functions.hpp"
#include "operations/common/expression/graph.hpp"

namespace quarry::lab {
namespace {

using detail::Domain;
using detail::ValueType;
using expression::Shape;
using expression::Value;

/// Draws values of a wanted type; every draw is a legal expression.
class Draw {
 public:
  Draw(Dice& dice, const ExpressionLimits& limits)
      : dice_(dice),
        limits_(limits),
        is_pair_(limits.pairs && limits.sum != DType::none && dice.one_in(6)),
        has_eights_(is_pair_ && dice.one_in(2)) {
    static constexpr DType types[] = {DType::f32, DType::f32,  DType::bf16, DType::f16,
                                      DType::f64, DType::e4m3, DType::e5m2, DType::s8,
                                      DType::u8,  DType::s32,  DType::s4,   DType::u4};
    static constexpr Shape shapes[] = {Shape::scalar, Shape::per_row, Shape::per_column, Shape::row,
                                       Shape::column};
    // Without sums, the first one is a matrix.
    const auto count = dice.between(limits.sum == DType::none ? 1 : 0, limits.inputs);
    for (std::int64_t i = 0; i < count; ++i) {
      const Shape shape = i == 0 && limits.sum == DType::none ? Shape::row : dice.one_of(shapes);
      inputs_.push_back({"x" + std::to_string(i), dice.one_of(types), shape});
    }
    if (dice.one_in(4)) inputs_.push_back({"table", dice.one_of(types), Shape::gathered});
  }

  Result<Expression> expression() {
    std::vector<expression::NamedValue> outputs;
    Value out = base() + number(ValueType::f32, limits_.depth);
    if (limits_.groups && dice_.one_in(8)) out = out / (reduction("group_", out) + 1);
    outputs.push_back({"out", out, output_type()});
    for (auto i = dice_.between(0, limits_.more_outputs); i > 0; --i) {
      const Value value = limits_.reductions && dice_.one_in(2) ? reduced(out) : base() * element(out);
      outputs.push_back({"y" + std::to_string(i), value, output_type()});
    }
    return Expression::make(outputs);
  }

 private:
  /// What no expression may leave out, as f32: the sums, of a pair both halves, or else the first input.
  Value base() {
    if (limits_.sum == DType::none) return as(inputs_[0].dtype, ValueType::f32, tensor(0));
    const Value sums = expression::sum(limits_.sum);
    if (!is_pair_) return as(limits_.sum, ValueType::f32, sums);
    const Value first = has_eights_ ? gate8(sums) : gate(sums);
    const Value second = has_eights_ ? up8(sums) : up(sums);
    return as(limits_.sum, ValueType::f32, first) + as(limits_.sum, ValueType::f32, second) / 2;
  }

  Value tensor(std::size_t i) {
    const Value value =
        expression::tensor(inputs_[i].name, inputs_[i].dtype, inputs_[i].shape.value_or(Shape::row));
    if (inputs_[i].shape != Shape::gathered) return value;
    return gathered(value, expression::tensor("index", DType::s32, Shape::per_row));
  }

  /// A value of a type, rounded to another one unless it is that already.
  static Value as(DType given, ValueType wanted, const Value& x) {
    return detail::value_type_of(given) == wanted ? x : rounded(x, detail::element_of(wanted));
  }

  DType output_type() {
    static constexpr DType types[] = {DType::f32,  DType::f32,  DType::bf16, DType::f16, DType::f64,
                                      DType::e4m3, DType::e5m2, DType::s8,   DType::u8,  DType::s32};
    return dice_.one_of(types);
  }

  /// One that a name for values of all elements takes part in, so that it has a value for each.
  Value element(const Value& out) {
    return dice_.one_in(2) ? out : number(ValueType::f32, limits_.depth - 1);
  }

  Value reduction(const std::string& prefix, const Value& x) {
    const Value value = dice_.one_in(2) ? abs(x) : x;
    return expression::call(prefix + (dice_.one_in(2) ? "max" : "sum"), {value});
  }

  Value reduced(const Value& out) {
    static constexpr const char* prefixes[] = {"", "row_", "column_", "group_"};
    const Value x = base() + number(ValueType::f32, limits_.depth - 1);
    const std::string prefix = dice_.one_of(prefixes);
    const bool is_group = prefix == "group_";
    if (is_group && !limits_.groups) return base();
    const Value value = reduction(prefix, is_group || dice_.one_in(2) ? x : out);
    return dice_.one_in(2) ? value : sqrt(abs(value)) * 0.5 + 1;
  }

  Value leaf(ValueType type) {
    if (inputs_.empty() || dice_.one_in(4)) {
      static constexpr double constants[] = {0, 1, 2, 3, -1, 7, 100};
      const double value = dice_.one_of(constants);
      const double fraction = type == ValueType::s32 ? 0 : dice_.fraction();
      // A constant beside constants would be f32.
      return as(DType::f32, type, rounded(Value(value + fraction), DType::f32));
    }
    const auto i = static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(inputs_.size()) - 1));
    return as(inputs_[i].dtype, type, tensor(i));
  }

  Value number(ValueType type, int depth) {
    if (depth <= 0) return leaf(type);
    if (dice_.one_in(8) && type == ValueType::f32) return base();
    if (dice_.one_in(8)) return conversion(type, depth);
    const auto all = detail::functions();
    while (true) {
      const auto which = dice_.between(0, static_cast<std::int64_t>(all.size()) - 1);
      const detail::Function& f = all[static_cast<std::size_t>(which)];
      if (f.domain == Domain::comparison || f.domain == Domain::logic) continue;
      if (f.domain == Domain::floating && type == ValueType::s32) continue;
      if (f.domain == Domain::selection) {
        return select(condition(depth - 1), number(type, depth - 1), number(type, depth - 1));
      }
      if (f.operands == 1) return expression::call(f.name, {number(type, depth - 1)});
      if (f.operands == 2)
        return expression::call(f.name, {number(type, depth - 1), number(type, depth - 1)});
      return expression::call(f.name,
                              {number(type, depth - 1), number(type, depth - 1), number(type, depth - 1)});
    }
  }

  /// A rounding to a type of this computed type, of any other.
  Value conversion(ValueType type, int depth) {
    static constexpr DType types[] = {DType::f16,  DType::bf16, DType::f32, DType::f64,
                                      DType::e4m3, DType::e5m2, DType::s8,  DType::u8,
                                      DType::s32,  DType::s4,   DType::u4};
    static constexpr ValueType from[] = {ValueType::f32, ValueType::f64, ValueType::s32};
    const DType to = dice_.one_of(types);
    return as(to, type, rounded(number(dice_.one_of(from), depth - 1), to));
  }

  Value condition(int depth) {
    static constexpr ValueType types[] = {ValueType::f32, ValueType::f64, ValueType::s32};
    static constexpr const char* comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth > 0 && dice_.one_in(5)) return !condition(depth - 1);
    if (depth > 0 && dice_.one_in(4)) return condition(depth - 1) && condition(depth - 1);
    if (depth > 0 && dice_.one_in(4)) return condition(depth - 1) || condition(depth - 1);
    const ValueType type = dice_.one_of(types);
    return expression::call(dice_.one_of(comparisons), {number(type, depth - 1), number(type, depth - 1)});
  }

  Dice& dice_;
  ExpressionLimits limits_;
  bool is_pair_;
  bool has_eights_;
  std::vector<expression::Tensor> inputs_;
};

}  // namespace

Expression random_expression(Dice& dice, const ExpressionLimits& limits) {
  while (true) {
    // Few are refused: they have more than the most values.
    if (Result<Expression> expression = Draw(dice, limits).expression()) return *std::move(expression);
  }
}

namespace {

/// The type nearest to one that kernels take.
DType kernel_type(DType type) {
  if (type == DType::none) return DType::f32;
  if (bytes_of(type) == 0) return is_unsigned(type) ? DType::u8 : DType::s8;
  return type;
}

/// The same with tensors that kernels take; nothing where there is no such expression.
Result<Expression> fitted(const Expression& drawn, DType out, bool only_rows) {
  expression::Declarations declared = drawn.declarations();
  std::erase_if(declared.tensors, [&](const auto& t) { return t.name == "out" && out != DType::none; });
  for (expression::Tensor& tensor : declared.tensors) {
    tensor.dtype = kernel_type(tensor.dtype);
    if (tensor.shape == Shape::column && only_rows) tensor.shape = Shape::row;
  }
  if (std::ranges::find(declared.tensors, "out", &expression::Tensor::name) == declared.tensors.end())
    declared.tensors.push_back({"out", out == DType::none ? DType::bf16 : out, Shape::row});
  return Expression::parse(drawn.text(), declared);
}

bool is_taken(const Expression& expression) {
  const auto& nodes = expression.graph().nodes;
  const auto rounds = [](const detail::Node& node) {
    const auto type = static_cast<DType>(node.which);
    return node.kind == detail::NodeKind::convert && bytes_of(type) == 0;
  };
  return expression.inputs().size() + expression.outputs().size() <= 8 && std::ranges::none_of(nodes, rounds);
}

}  // namespace

Expression random_kernel_expression(Dice& dice, const ExpressionLimits& limits, DType out, bool only_rows) {
  for (;;) {
    const Result<Expression> fit = fitted(random_expression(dice, limits), out, only_rows);
    if (fit && is_taken(*fit)) return *fit;
  }
}

}  // namespace quarry::lab
