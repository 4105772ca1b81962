/// Expressions written in C++ equal the text's.
#include <string>
#include <vector>

#include "operations/common/expression/functions.hpp"
#include "quarry/expression.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using namespace expression;

void check_same(std::initializer_list<NamedValue> outputs, const std::string& text,
                const std::string& tensors = "", DType sum_type = DType::f32) {
  const Result<Expression> made = Expression::make(outputs);
  INFO(text << "\n" << made.status().message());
  REQUIRE(made);
  const Result<Declarations> declared = Declarations::parse(tensors, sum_type);
  REQUIRE(declared);
  const Result<Expression> parsed = Expression::parse(text, *declared);
  INFO(parsed.status().message());
  REQUIRE(parsed);
  INFO(made->text() << "\n" << parsed->text());
  CHECK(*made == *parsed);
}

const Value x = tensor("x", DType::bf16, Shape::row);
const Value b = tensor("b", DType::f32, Shape::per_column);

TEST_CASE("C++ operators build the graph of the text", "[expression]") {
  const Value out = gelu(sum() + b) * x;
  check_same({{"out", out}, {"amax", max(abs(out))}}, "out = gelu(sum + b) * x; amax = max(abs(out))",
             "b=f32:per_column,x=bf16:row");
  check_same({{"out", out, DType::f16, Shape::column}, {"z", sum() + b, DType::bf16}},
             "out = gelu(sum + b) * x; z = sum + b", "b=f32:per_column,x=bf16:row,out=f16:col,z=bf16");
  check_same({{"out", silu(gate(sum())) * up(sum())}}, "out = silu(gate(sum)) * up(sum)");
  check_same({{"out", silu(gate8(sum())) * up8(sum())}}, "out = silu(gate8(sum)) * up8(sum)");
  CHECK(Expression::make({{"out", gate8(sum()) * up8(sum())}})->pairs() == Pairs::eights);
  CHECK_FALSE(*Expression::make({{"out", gate8(sum()) * up8(sum())}}) ==
              *Expression::make({{"out", gate(sum()) * up(sum())}}));
  CHECK(Expression::make({{"out", gate8(sum()) * up8(sum())}})->hash() !=
        Expression::make({{"out", gate(sum()) * up(sum())}})->hash());
  check_same({{"out", x + 1}}, "out = x + 1", "x=bf16:row", DType::none);
  check_same({{"out", rounded(sum(DType::s32), DType::f32) * scalar("s")}}, "out = f32(sum) * s",
             "s=f32:scalar", DType::s32);
  check_same({{"out", leaky_relu(sum())}}, "out = leaky_relu(sum, 0.01)");
  check_same({{"out", select((x < b && !(x == 0.0)) || x > 2, -x, 1 - x / 3)}},
             "out = select(x < b and not x == 0 or x > 2, -x, 1 - x / 3)", "x=bf16:row,b=f32:per_column",
             DType::none);
  check_same({{"out", x}, {"copy", x}}, "out = x; copy = x", "x=bf16:row", DType::none);
  check_same({{"a", sum() * b}, {"out", sum() * b}}, "a = sum * b; out = sum * b", "b=f32:per_column");
  check_same({{"out", x}, {"r", row_sum(x * x)}, {"s", rsqrt(row_sum(x * x))}},
             "out = x; r = row_sum(x * x); s = rsqrt(row_sum(x * x))", "x=bf16:row", DType::none);
}

TEST_CASE("An index chooses the rows of a table in C++ as in the text", "[expression]") {
  const Value table = tensor("t", DType::bf16, Shape::gathered);
  const Value index = tensor("i", DType::s32, Shape::per_row);
  const Value row = gathered(table, index);
  check_same({{"out", sum() + row}}, "out = sum + t[i]", "t=bf16:gathered,i=s32:per_row");
  check_same({{"out", sum() * row + rounded(index, DType::f32)}, {"z", row * row}},
             "out = sum * t[i] + f32(i); z = t[i] * t[i]", "t=bf16:gathered,i=s32:per_row");
  const auto message = [](const Value& out) { return Expression::make({{"out", out}}).status().message(); };
  CHECK(message(sum() + gathered(sum() + 1, index)) == "gathered() takes a tensor as the table");
  CHECK(message(sum() + gathered(table, index + 1)).find("expected the name of an input of s32:per_row") ==
        0);
  CHECK(
      message(sum() + gathered(table, table)).find("an index is an input of s32:per_row; `t` is declared") ==
      0);
  CHECK(message(sum() + table).find("is gathered: an index chooses its rows") != std::string::npos);
  CHECK(message(sum() + gathered(x, index)).find("expected x=TYPE:gathered") != std::string::npos);
}

TEST_CASE("Every function of the table can be called from C++", "[expression]") {
  for (const detail::Function& f : detail::functions()) {
    INFO(f.name);
    const Value condition = x > b;
    const Value value = f.domain == detail::Domain::logic ? select(call(f.name, {condition, condition}), x, b)
                        : f.domain == detail::Domain::selection ? call(f.name, {condition, x, b})
                        : f.operands == 1                       ? call(f.name, {x})
                        : f.operands == 2                       ? call(f.name, {x, b})
                                                                : call(f.name, {x, b, 1});
    if (f.name == "not") continue;
    const bool compares = f.domain == detail::Domain::comparison;
    const Result<Expression> e = Expression::make({{"out", compares ? select(value, x, b) : value}});
    INFO(e.status().message());
    CHECK(e);
  }
}

TEST_CASE("What is wrong with values in C++ is said", "[expression]") {
  const auto message = [](std::initializer_list<NamedValue> outputs) {
    const Result<Expression> e = Expression::make(outputs);
    return e ? std::string() : e.status().message();
  };
  CHECK(message({}) == "nothing assigns `out`\n\n^");
  CHECK(message({{"out", call("gleu", {sum()})}}) ==
        "unknown function `gleu`; did you mean `gelu` or `relu`?\nout = gleu(sum)\n      ^");
  CHECK(message({{"out", sum()}, {"out", x}}).find("`out` is assigned twice") == 0);
  CHECK(message({{"out", sum() + tensor("x", DType::f32, Shape::row) + x}}) ==
        "tensor `x` has two types or shapes");
  CHECK(message({{"out", sum() + rounded(sum(DType::s32), DType::f32)}}) ==
        "sums have one type; the expression names two");
  CHECK(message({{"out", tensor("two words", DType::f32, Shape::row)}}).find("`two words` cannot be") == 0);
  CHECK(message({{"out", tensor("v", static_cast<DType>(77), Shape::row)}}).find("`v` has an unknown type") ==
        0);
  CHECK(
      message({{"out", tensor("v", DType::f32, static_cast<Shape>(99))}}).find("`v` has an unknown shape") ==
      0);
  CHECK(message({{"out", sum(static_cast<DType>(77))}}) != "");
  CHECK(message({{"out", call("sum", {})}}) != "");
  CHECK(message({{"out", x + x}, {"a = 1; b", x}}) == "`a = 1; b` cannot be the name of an output");
  CHECK(message({{"out", call("gelu(1) + abs", {x})}}) == "unknown function `gelu(1) + abs`");
  CHECK(message({{"out", sum() - row_max(sum())}}).find("the reduction is complete only after") == 0);
}

TEST_CASE("Values that nest deeply make an expression or an error", "[expression]") {
  Value right = sum();
  for (int i = 0; i < 240; ++i) right = b + exp(right * i);
  const Result<Expression> e = Expression::make({{"out", right}});
  INFO(e.status().message());
  REQUIRE(e);
  CHECK(*Expression::parse(e->text(), e->declarations()) == *e);
  for (int i = 0; i < 1000000; ++i) right = right + i;
  CHECK(Expression::make({{"out", right}}).status().message().find("the expression is too large") == 0);
  Value doubled = sum();
  for (int i = 0; i < 500; ++i) doubled = doubled + doubled;
  CHECK(Expression::make({{"out", doubled}}));
}

}  // namespace
}  // namespace quarry
