#include <array>
#include <string>
#include <vector>

#include "fuzz/harness_list.hpp"
#include "fuzz/input.hpp"
#include "operations/common/expression/device_code.hpp"
#include "operations/common/expression/executor.hpp"
#include "quarry/expression.hpp"

namespace quarry::fuzz {
namespace {

using expression::Shape;

constexpr std::int64_t rows = 3;
constexpr std::int64_t columns = 130;  // a group and a part of one

/// A tensor's memory, exactly as much as it has elements.
struct Held {
  std::vector<std::uint8_t> bytes;
  host::HostOperand operand;
};

Held held(const expression::Tensor& tensor, DType type, std::uint8_t seed) {
  Held made;
  made.operand.type = type;
  std::int64_t elements = 1;
  switch (tensor.shape.value_or(Shape::scalar)) {
    case Shape::gathered: made.operand.rows = rows; [[fallthrough]];
    case Shape::row: made.operand.strides = {0, 0, columns, 1}; break;
    case Shape::column: made.operand.strides = {0, 0, 1, rows}; break;
    case Shape::per_row: made.operand.strides = {0, 0, 1, 0}; break;
    case Shape::per_column: made.operand.strides = {0, 0, 0, 1}; break;
    case Shape::scalar: break;
  }
  if (made.operand.strides[2] != 0) elements *= rows;
  if (made.operand.strides[3] != 0) elements *= columns;
  made.bytes.resize(static_cast<std::size_t>(bytes_for(type, elements)));
  for (std::size_t i = 0; i < made.bytes.size(); ++i)
    made.bytes[i] = static_cast<std::uint8_t>(seed + i * 37);
  made.operand.data = made.bytes.data();
  return made;
}

std::vector<host::HostOperand> operands_of(const std::vector<Held>& all) {
  std::vector<host::HostOperand> operands;
  for (const Held& one : all) operands.push_back(one.operand);
  return operands;
}

void evaluate(const Expression& expression, std::uint8_t seed) {
  std::vector<Held> inputs;
  std::vector<Held> outputs;
  for (const expression::Tensor& tensor : expression.inputs())
    inputs.push_back(held(tensor, tensor.dtype, seed));
  for (const expression::Output& output : expression.outputs()) {
    const DType type = output.tensor.dtype == DType::none ? DType::f16 : output.tensor.dtype;
    outputs.push_back(held(output.tensor, type, 0));
  }
  const std::vector<host::HostOperand> read = operands_of(inputs);
  const std::vector<host::HostOperand> written = operands_of(outputs);
  std::array<double, expression::group_columns> sums = {};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<double>(i) - seed;
  host::ExpressionExecutor executor(expression.graph(), {1, 1, rows, columns}, read, {}, {written});
  executor.run([&sums](const host::ElementPlace&) { return host::PartSums{sums.data(), sums.data()}; });
}

}  // namespace

void expressions(Bytes input) {
  Input values(input);
  constexpr DType sum_types[] = {DType::f32, DType::f64, DType::s32, DType::none};
  const std::uint8_t choice = values.byte();
  const std::string_view text = text_of(values.rest());
  const std::size_t line = text.find('\n');
  const std::string_view declared = line == text.npos ? std::string_view() : text.substr(0, line);
  const auto declarations = expression::Declarations::parse(declared, sum_types[choice % 4]);
  check_message(declarations.status(), 3);
  if (!declarations) return;
  const Result<Expression> parsed =
      Expression::parse(line == text.npos ? text : text.substr(line + 1), *declarations);
  check_message(parsed.status(), 3);
  if (!parsed) return;
  const Result<Expression> again = Expression::parse(parsed->text(), parsed->declarations());
  require(again && *again == *parsed && again->hash() == parsed->hash(),
          "an expression's text gives it back: " + parsed->text());
  check_message(detail::device_code(parsed->graph(), "Fuzzed").status());
  evaluate(*parsed, choice);
}

}  // namespace quarry::fuzz
