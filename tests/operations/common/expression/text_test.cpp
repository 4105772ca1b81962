/// Expressions as text: what is read, what is written back, and what is the same.
#include <string>

#include "operations/common/expression/graph.hpp"
#include "quarry/expression.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using expression::Declarations;
using expression::Extent;
using expression::Shape;
using expression::Tensor;

Expression parsed(const std::string& text, const std::string& tensors = "", DType sum = DType::f32) {
  const Result<Declarations> declared = Declarations::parse(tensors, sum);
  INFO(declared.status().message());
  REQUIRE(declared);
  const Result<Expression> e = Expression::parse(text, *declared);
  INFO(e.status().message());
  REQUIRE(e);
  return *e;
}

/// The text that an expression is written back as, which must be read as the same one.
std::string rewritten(const std::string& text, const std::string& tensors = "", DType sum = DType::f32) {
  const Expression e = parsed(text, tensors, sum);
  const Result<Expression> again = Expression::parse(e.text(), e.declarations());
  INFO(e.text() << "\n" << again.status().message());
  REQUIRE(again);
  CHECK(*again == e);
  CHECK(again->hash() == e.hash());
  CHECK(again->text() == e.text());
  return e.text();
}

TEST_CASE("An expression has inputs, outputs and extents", "[expression]") {
  const Expression e =
      parsed("out = gelu(sum + bias) * gate; amax = max(abs(out))", "bias=bf16:per_column,gate=bf16:row");
  REQUIRE(e.inputs().size() == 2);
  CHECK(e.inputs()[0] == Tensor{"bias", DType::bf16, Shape::per_column});
  CHECK(e.inputs()[1] == Tensor{"gate", DType::bf16, Shape::row});
  REQUIRE(e.outputs().size() == 2);
  CHECK(e.outputs()[0].tensor == Tensor{"out", DType::none, Shape::row});
  CHECK(e.outputs()[0].extent == Extent::element);
  CHECK(e.outputs()[1].tensor == Tensor{"amax", DType::f32, Shape::scalar});
  CHECK(e.outputs()[1].extent == Extent::all);
  CHECK(e.sum_type() == DType::f32);
  CHECK_FALSE(e.is_gated());
}

TEST_CASE("Reductions leave values for rows, columns, groups and all", "[expression]") {
  const Expression e = parsed(
      "out = sum; a = max(sum); b = row_max(sum); c = column_sum(sum); d = group_max(abs(sum)); "
      "n = rsqrt(row_sum(sum * sum) / width)",
      "d=f32:col,n=f16,width=f32:scalar");
  const Extent extents[] = {Extent::element, Extent::all,   Extent::row,
                            Extent::column,  Extent::group, Extent::row};
  const Shape shapes[] = {Shape::row,        Shape::scalar, Shape::per_row,
                          Shape::per_column, Shape::column, Shape::per_row};
  REQUIRE(e.outputs().size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(e.outputs()[i].extent == extents[i]);
    CHECK(e.outputs()[i].tensor.shape == shapes[i]);
  }
  CHECK(e.outputs()[5].tensor.dtype == DType::f16);
}

TEST_CASE("Operators bind as in other languages", "[expression]") {
  const std::string tensors = "a=f32:row,b=f32:row,c=f32:row";
  const auto same = [&](const std::string& left, const std::string& right) {
    INFO(left << " and " << right);
    CHECK(parsed("out = sum * (" + left + ")", tensors) == parsed("out = sum * (" + right + ")", tensors));
  };
  same("a + b * c", "a + (b * c)");
  same("a - b - c", "(a - b) - c");
  same("a / b * c", "(a / b) * c");
  same("-a * b + c", "((-a) * b) + c");
  same("select(a < b and not b < c or c > 0, a, b + c)", "select(((a<b) && (!(b<c))) || (c > 0), a, b + c)");
  same("a - -b + c", "(a - (-b)) + c");
  same("a * b + -0.5 + 1/4 - c", "a * b + (-0.5) + 0.25 - c");
  CHECK_FALSE(parsed("out = sum * (a - b) + c", tensors) == parsed("out = sum * (b - a) + c", tensors));
}

TEST_CASE("What is written back is short, and shared values have names", "[expression]") {
  CHECK(rewritten("out=gelu((sum+bias))*gate;amax=max(abs(out))", "bias=bf16:per_column,gate=bf16:row") ==
        "out = gelu(sum + bias) * gate; amax = max(abs(out))");
  CHECK(rewritten("z = sum + b; out = z * sigmoid(z)", "b=f32:per_row") ==
        "t0 = sum + b; out = t0 * sigmoid(t0)");
  CHECK(rewritten("out = (sum + t0) * (sum + t0)", "t0=f32:row") == "t_0 = sum + t0; out = t_0 * t_0");
  CHECK(rewritten("out = sum * 0.1 - 2 - -3e-20 + inf") == "out = sum * 0.1 - 2 - -3e-20 + inf");
  CHECK(rewritten("out = sum * (1/3)", "", DType::f64) == "out = sum * 0.3333333333333333");
  CHECK(rewritten("out = select(not (sum > 0 or sum < -1), 1, sum)") ==
        "out = select(not (sum > 0 or sum < -1), 1, sum)");
  CHECK(rewritten("out = s8(f32(sum) * scale)", "scale=f32:scalar", DType::s32) ==
        "out = s8(f32(sum) * scale)");
  CHECK(rewritten("out = silu(gate(sum)) * up(sum)") == "out = silu(gate(sum)) * up(sum)");
  CHECK(rewritten("s = group_max(abs(sum)) / 448; out = e4m3(sum / s)", "s=f32:col") ==
        "s = group_max(abs(sum)) / 448; out = e4m3(sum / s)");
}

TEST_CASE("What is made of numbers alone has the type of the value beside it, or of the sums",
          "[expression]") {
  struct Case {
    std::string text;
    DType sum;
    /// With the type of each number that has no value beside it, unless all have f32.
    std::string written;
    std::string tensors = {};
  };
  const Case cases[] = {
      {"out = select(sum > 0, 0.1, 0.2)", DType::f64, "out = select(sum > 0, f64(0.1), f64(0.2))"},
      {"out = sum + sqrt(2)", DType::f64, "out = sum + sqrt(f64(2))"},
      {"out = sum + select(sum > 0, 0.1, sqrt(2))", DType::f64,
       "out = sum + select(sum > 0, f64(0.1), sqrt(f64(2)))"},
      {"t = select(sum > 0, 1, 2); out = sum * t", DType::s32, "out = sum * select(sum > 0, s32(1), s32(2))"},
      {"out = select(sum > 0, 16777217, 1)", DType::s32, "out = select(sum > 0, s32(16777217), s32(1))"},
      {"out = select(f32(sum) > 0, 0.5, 2)", DType::s32, "out = select(f32(sum) > 0, f32(0.5), f32(2))"},
      {"out = select(sum > 0, 0.1, 0.2)", DType::f32, "out = select(sum > 0, 0.1, 0.2)"},
      {"out = f32(x) * select(x > 0, 0.1, 0.2)", DType::none,
       "out = f32(x) * select(x > 0, f32(0.1), f32(0.2))", "x=f64:row"},
      {"out = select(x > x, 0.1, 0.2)", DType::none, "out = select(x > x, f64(0.1), f64(0.2))", "x=f64:row"},
      {"out = select(x > x, 0.1, 0.2)", DType::none, "out = select(x > x, f64(0.1), f64(0.2))",
       "x=f32:row,out=f64:row"},
      {"out = sum + f64(0.1) * f64(f32(0.3))", DType::f64, "out = sum + 0.1 * f64(f32(0.3))"},
      {"out = f32(f64(f32(0.1))) * sum", DType::f32, "out = f32(f64(f32(0.1))) * sum"},
      {"out = f32(f64(sqrt(f32(2)))) * sum", DType::f32, "out = f32(f64(sqrt(f32(2)))) * sum"},
      {"out = sum; z = 0.1", DType::f64, "out = sum; z = f64(0.1)"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(rewritten(c.text, c.tensors, c.sum) == c.written);
  }
}

TEST_CASE("Names of local values, spaces and repetition do not matter", "[expression]") {
  const Expression e = parsed("out = gelu(sum + bias) * gelu(sum + bias)", "bias=f32:row");
  const Expression f = parsed("  z = sum\n + bias ; y = gelu(z); out = y*y ;", "bias=f32:row");
  CHECK(e == f);
  CHECK(e.hash() == f.hash());
  CHECK(e.graph().nodes.size() == 5);
  CHECK(parsed("out = f32(sum)") == parsed("out = sum"));
}

TEST_CASE("The hash tells expressions apart and stays the same", "[expression]") {
  const Expression e = parsed("out = gelu(sum + bias)", "bias=bf16:per_column");
  for (const char* other : {"out = gelu(bias + sum)", "out = silu(sum + bias)", "out = gelu(sum - bias)",
                            "out = gelu(sum + bias) + 0", "out = gelu(sum + bias); x = max(out)"}) {
    CHECK(parsed(other, "bias=bf16:per_column").hash() != e.hash());
  }
  for (const char* other : {"bias=f16:per_column", "bias=bf16:per_row", "bias=bf16:per_column,out=f32:row"}) {
    CHECK(parsed("out = gelu(sum + bias)", other).hash() != e.hash());
  }
  // Names of kernels hold it.
  CHECK(e.hash() == 0x0cfd547d9cbdaa7eULL);
}

TEST_CASE("The list of tensors is read and written", "[expression]") {
  const Result<Declarations> list = Declarations::parse(" bias = bf16 : per_column,gate=f16:column,amax=f32");
  REQUIRE(list);
  CHECK(list->text() == "bias=bf16:per_column,gate=f16:col,amax=f32");
  CHECK(Declarations::parse("")->tensors.empty());
}

}  // namespace
}  // namespace quarry
