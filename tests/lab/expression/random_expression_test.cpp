/// Random expressions: their text, and what the two interpreters give.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/expression/random.hpp"
#include "lab/expression/reference.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/common/expression/executor.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using expression::Extent;
using host::Extents4;
using host::HostOperand;

std::uint64_t fresh_seed() {
  const std::uint64_t seed = lab::fresh_seed();
  UNSCOPED_INFO("seed " << seed);
  return seed;
}

TEST_CASE("A random expression is read back from its text", "[expression]") {
  lab::Dice dice(fresh_seed());
  for (int i = 0; i < 2000; ++i) {
    const Expression e =
        lab::random_expression(dice, {.sum = dice.one_of({DType::f32, DType::s32, DType::none})});
    const Result<Expression> again = Expression::parse(e.text(), e.declarations());
    INFO(e.text() << "\n" << e.declarations().text() << "\n" << again.status().message());
    REQUIRE(again);
    REQUIRE(*again == e);
    REQUIRE(again->hash() == e.hash());
    REQUIRE(again->text() == e.text());
  }
}

/// Memory of an operand, of random values that its type holds, or poisoned.
struct Held {
  std::vector<unsigned char> bytes;
  HostOperand operand;
};

double random_value(lab::Dice& dice, DType type) {
  if (is_integer(type)) return static_cast<double>(dice.between(-20, 20));
  if (dice.one_in(50)) return dice.one_of({0.0, -0.0, 1e30, -1e30, HUGE_VAL, -HUGE_VAL, std::nan("")});
  return (dice.fraction() - 0.5) * dice.one_of({1.0, 4.0, 20.0});
}

/// An operand that has a value for each of these extents, in rows or in columns, with gaps.
Held held(lab::Dice& dice, DType type, const Extents4& extents, bool by_columns) {
  const std::size_t order[] = {0, 1, by_columns ? std::size_t{3} : 2, by_columns ? std::size_t{2} : 3};
  Held held;
  std::int64_t stride = 1;
  for (std::size_t i = 4; i-- > 0;) {
    held.operand.strides[order[i]] = extents[order[i]] == 1 ? 0 : stride;
    stride = stride * extents[order[i]] + (i == 3 ? dice.between(0, 3) : 0);
  }
  held.operand.type = type;
  held.bytes.assign(static_cast<std::size_t>(bytes_for(type, stride + 1)), 0xA5);
  held.operand.data = held.bytes.data();
  return held;
}

void fill(lab::Dice& dice, Held& held) {
  const auto count = static_cast<std::int64_t>(held.bytes.size()) * 8 / bits_of(held.operand.type);
  for (std::int64_t i = 0; i < count; ++i) {
    host::write_element(held.operand.type, held.operand.data, i, random_value(dice, held.operand.type));
  }
}

/// Fewer than indices, which are random numbers, say.
constexpr std::int64_t table_rows = 15;

Extents4 extents_of(expression::Shape shape, Extents4 all) {
  if (shape == expression::Shape::gathered) all[2] = table_rows;
  const bool is_matrix = shape == expression::Shape::row || shape == expression::Shape::column ||
                         shape == expression::Shape::gathered;
  if (!is_matrix && shape != expression::Shape::per_row) all[2] = 1;
  if (!is_matrix && shape != expression::Shape::per_column) all[3] = 1;
  if (shape == expression::Shape::scalar) all[0] = all[1] = 1;
  return all;
}

/// Sums of an operation: exact numbers of their type, by element.
struct Sums {
  Extents4 extents;
  std::vector<double> sum;
  std::vector<double> up;

  Sums(lab::Dice& dice, DType type, const Extents4& all) : extents(all) {
    const auto count = static_cast<std::size_t>(all[0] * all[1] * all[2] * all[3]);
    for (std::vector<double>* values : {&sum, &up}) {
      for (std::size_t i = 0; i < count; ++i) {
        const double value = random_value(dice, type);
        values->push_back(type == DType::f64 ? value : host::DeviceArithmetic().rounded(type, value));
      }
    }
  }

  host::PartSums at(const host::ElementPlace& place) const {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < 4; ++i) index = index * extents[i] + place[i];
    return {sum.data() + index, up.data() + index};
  }
};

/// An expression with operands of its own.
struct Trial {
  Trial(lab::Dice& dice, const Expression& expression, const Extents4& all)
      : e(expression),
        extents(all),
        sums(dice, e.sum_type() == DType::none ? DType::f32 : e.sum_type(), all) {
    for (const expression::Tensor& tensor : e.inputs()) {
      inputs.push_back(held(dice, tensor.dtype, extents_of(*tensor.shape, all),
                            *tensor.shape == expression::Shape::column));
      fill(dice, inputs.back());
      if (tensor.shape == expression::Shape::gathered) inputs.back().operand.rows = table_rows;
      input_operands.push_back(inputs.back().operand);
    }
    expected = lab::expression_reference(
        e, extents, input_operands,
        [](const void* context, const host::ElementPlace& place) {
          return static_cast<const Sums*>(context)->at(place);
        },
        &sums);
    for (std::size_t i = 0; i < e.outputs().size(); ++i) {
      const expression::Tensor& tensor = e.outputs()[i].tensor;
      const DType type = tensor.dtype == DType::none ? DType::f32 : tensor.dtype;
      outputs.push_back(held(dice, type, expected[i].extents, tensor.shape == expression::Shape::column));
      output_operands.push_back(outputs.back().operand);
    }
  }

  void run() {
    host::ExpressionExecutor executor(e.graph(), extents, input_operands, {}, {output_operands});
    executor.run([this](const host::ElementPlace& place) { return sums.at(place); });
  }

  const Expression& e;
  Extents4 extents;
  Sums sums;
  std::vector<Held> inputs;
  std::vector<Held> outputs;
  std::vector<HostOperand> input_operands;
  std::vector<HostOperand> output_operands;
  std::vector<lab::ExpectedOutput> expected;
};

TEST_CASE("Random expressions in f32 and in float64 agree", "[expression]") {
  lab::Dice dice(fresh_seed());
  std::int64_t elements = 0;
  std::int64_t unknown = 0;
  for (int i = 0; i < 10000; ++i) {
    const DType sum = dice.one_of({DType::f32, DType::f32, DType::s32, DType::f64, DType::none});
    const Expression e = lab::random_expression(dice, {.sum = sum});
    const Extents4 extents = {dice.one_in(4) ? 2 : 1, dice.one_in(8) ? 3 : 1, dice.between(0, 5),
                              dice.one_in(3) ? dice.between(125, 300) : dice.between(1, 9)};
    Trial trial(dice, e, extents);
    trial.run();
    for (std::size_t k = 0; k < trial.outputs.size(); ++k) {
      elements += static_cast<std::int64_t>(trial.expected[k].values.size());
      const std::int64_t wrong = lab::wrong_elements(trial.expected[k], trial.output_operands[k], unknown);
      if (wrong == 0) continue;
      INFO("round " << i << ": " << e.text() << "\nwith " << e.declarations().text() << "\noutput " << k
                    << ", extents " << extents[2] << " x " << extents[3]);
      REQUIRE(wrong == 0);
    }
  }
  CHECK(elements > 100000);
  CHECK(unknown < elements / 5);
}

}  // namespace
}  // namespace quarry
