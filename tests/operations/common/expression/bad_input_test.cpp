/// What is wrong with an expression is said, and shown under the column at fault.
#include <iterator>
#include <random>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/expression.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using expression::Declarations;

/// An expression, the tensors it may use, what is said, and the text from the caret on.
struct Bad {
  std::string text;
  std::string tensors;
  std::string message;
  std::string at;
  DType sum = DType::f32;
};

/// The error's first line is `message`, and its caret stands in front of `at` in its second line.
void check_message(const Status& status, const std::string& message, const std::string& at) {
  INFO(status.message());
  REQUIRE_FALSE(status);
  const std::string all = status.message();
  const std::size_t first = all.find('\n');
  const std::size_t second = all.find('\n', first + 1);
  REQUIRE(second != std::string::npos);
  CHECK(all.substr(0, first) == message);
  const std::string line = all.substr(first + 1, second - first - 1);
  const std::string caret = all.substr(second + 1);
  REQUIRE(caret.find_first_not_of(' ') == caret.size() - 1);
  CHECK(line.substr(caret.size() - 1) == at);
}

void check(const Bad& bad) {
  const Result<Declarations> declared = Declarations::parse(bad.tensors, bad.sum);
  INFO(bad.text << " with " << bad.tensors << "\n" << declared.status().message());
  REQUIRE(declared);
  const Result<Expression> e = Expression::parse(bad.text, *declared);
  check_message(e.status(), bad.message, bad.at);
}

TEST_CASE("Text that is no expression is refused", "[expression]") {
  const Bad all[] = {
      {"", "", "nothing assigns `out`", ""},
      {"out", "", "expected `=` behind `out`, got the end of the expression", ""},
      {"out =", "", "expected a value, got the end of the expression", ""},
      {"out = sum +", "", "expected a value, got the end of the expression", ""},
      {"= sum", "", "expected the name of an output, got `=`", "= sum"},
      {"out = sum sum", "", "expected an operator, got `sum`", "sum"},
      {"out = (sum + 1", "", "expected `)`, got the end of the expression", ""},
      {"out = sum)", "", "`)` without `(`", ")"},
      {"out = gelu(sum", "", "expected `)`, got the end of the expression", ""},
      {"out = gelu()", "", "expected a value, got `)`", ")"},
      {"out = sum = 2", "", "expected a value; did you mean `==`?", "= 2"},
      {"out = sum ** 2", "", "`**` is no operator; write a power as a product", "** 2"},
      {"out = sum ? 1", "", "`?` is no operator; write select(condition, a, b)", "? 1"},
      {"out = sum & 1", "", "`&` is no operator; did you mean `and`?", "& 1"},
      {"out = sum $", "", "unexpected character", "$"},
      {"out = sum * 1.2.3", "", "malformed number", "1.2.3"},
      {"out = sum * 3bias", "", "malformed number", "3bias"},
      {"out = sum * 1e999", "", "number is out of the range of float64", "1e999"},
      {"out = sum * 1e99", "", "the constant is no f32", "1e99"},
      {"out = select(0 < sum < 1, sum, 0)", "",
       "comparisons do not chain; join them with `and`, or use parentheses", "< 1, sum, 0)"},
      {"sum = 1", "", "`sum` cannot be assigned", "sum = 1"},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("Names that mean nothing are refused", "[expression]") {
  const Bad all[] = {
      {"out = sum + bais", "bias=f32:row", "unknown name `bais`; did you mean `bias`?", "bais"},
      {"out = sum + x", "",
       "unknown name `x`; declare a tensor as NAME=TYPE:SHAPE, for example x=bf16:per_column", "x"},
      {"out = gleu(sum)", "", "unknown function `gleu`; did you mean `gelu` or `relu`?", "gleu(sum)"},
      {"out = bias(sum)", "bias=f32:row", "`bias` is a tensor, not a function", "bias(sum)"},
      {"out = gelu + sum", "", "`gelu` is a function; expected `(` behind it", "gelu + sum"},
      {"out = gelu(sum, 1)", "", "`gelu` takes 1 value, got 2", "gelu(sum, 1)"},
      {"out = max(sum, 1, 2)", "", "`max` takes 1 or 2 values, got 3", "max(sum, 1, 2)"},
      {"out = select(sum)", "", "`select` takes 3 values, got 1", "select(sum)"},
      {"out = bf16(sum, 2)", "", "`bf16` takes 1 value, got 2", "bf16(sum, 2)"},
      {"out = x + sum", "x=f32:row", "there is no sum here: the operation computes from tensors alone", "sum",
       DType::none},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("Names are assigned once, before they are used, and inputs are used", "[expression]") {
  const Bad all[] = {
      {"out = sum; out = 2 * sum", "", "`out` is assigned twice", "out = 2 * sum"},
      {"x = sum", "", "nothing assigns `out`", ""},
      {"out = out + sum", "", "`out` is used before it is assigned", "out + sum"},
      {"a = b + sum; b = a; out = a", "", "`b` is used before it is assigned", "b + sum; b = a; out = a"},
      {"out = sum + x; x = max(sum)", "x=f32", "`x` is used before it is assigned", "x; x = max(sum)"},
      {"out = sum", "bias=f32:row", "nothing uses `bias`", "bias=f32:row"},
      {"out = sum + a", "a=f32:row,c=f32:row", "nothing uses `c`", "c=f32:row"},
      {"out = x", "x=f32:row", "nothing uses `sum`", ""},
      {"out = sum + x", "x=bf16", "`x` is an input, and its declaration lacks the type or the shape", "x"},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("Types that do not mix are refused", "[expression]") {
  const Bad all[] = {
      {"out = sum + x", "x=bf16:row", "s32 and f32 do not mix; round one of them, for example f32(x)", "x",
       DType::s32},
      {"out = sum + x", "x=f64:row", "f32 and f64 do not mix; round one of them, for example f32(x)", "x"},
      {"out = sum * 0.5", "", "the constant is no s32; round the value beside it, for example to f32", "0.5",
       DType::s32},
      {"out = sum * 3000000000", "", "the constant is no s32; round the value beside it, for example to f32",
       "3000000000", DType::s32},
      {"out = gelu(sum)", "", "`gelu` takes no s32; round the value first, for example f32(x)", "sum)",
       DType::s32},
      {"out = sum / 2", "", "`/` takes no s32; round the value first, for example f32(x)", "sum / 2",
       DType::s32},
      {"out = sum > 0", "", "a condition cannot be stored; write select(condition, 1, 0)", "sum > 0"},
      {"out = (sum > 0) * sum", "", "a condition is no number; write select(condition, 1, 0)",
       "(sum > 0) * sum"},
      {"out = bf16(sum > 0)", "", "a condition is no number; write select(condition, 1, 0)", "sum > 0)"},
      {"out = max(sum > 0)", "", "a condition is no number; write select(condition, 1, 0)", "sum > 0)"},
      {"out = select(sum, 1, 2)", "", "expected a condition, such as x > 0", "sum, 1, 2)"},
      {"out = select(sum > 0 and sum, 1, 2)", "", "expected a condition, such as x > 0", "sum, 1, 2)"},
      {"out = not sum", "", "expected a condition, such as x > 0", "sum"},
      {"out = sum", "", "sums are f32, f64 or s32, got bf16", "out = sum", DType::bf16},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("Reductions that do not fit are refused", "[expression]") {
  const std::string late =
      "the reduction is complete only after all elements, so nothing with more values can use it; elements "
      "can use "
      "group_max and group_sum";
  const std::string same =
      "a reduction takes a value of every element; this one is the same along rows or columns";
  const std::string mixed = "values that are reduced over different extents do not go together";
  const std::string twice = "a reduction takes no value that is reduced itself";
  const Bad all[] = {
      {"out = sum - row_max(sum)", "", late, "- row_max(sum)"},
      {"out = sum; n = row_sum(sum) * b", "b=f32:per_column", late, "* b"},
      {"out = sum; n = max(sum) + b", "b=f32:per_row", late, "+ b"},
      {"out = sum; n = row_max(sum) / column_max(sum)", "", mixed, "/ column_max(sum)"},
      {"out = sum; n = max(row_max(sum))", "", twice, "row_max(sum))"},
      {"out = sum; n = group_max(sum / group_max(sum))", "", twice, "sum / group_max(sum))"},
      {"out = sum + b; n = row_max(b)", "b=f32:per_column", same, "b)"},
      {"out = sum; n = max(group_max(sum))", "", same, "group_max(sum))"},
      {"out = sum; n = max(2)", "", same, "2)"},
      {"out = sum; n = row_max(sum)", "n=f32:scalar",
       "`n` is declared scalar, but has a value for each row: expected per_row", "n = row_max(sum)"},
      {"out = sum; n = max(sum)", "n=f32:per_row",
       "`n` is declared per_row, but has a value for all: expected scalar", "n = max(sum)"},
      {"out = sum; n = sum * 2", "n=f32:per_row",
       "`n` is declared per_row, but has a value for each element: expected row or col", "n = sum * 2"},
      {"out = sum; n = group_max(sum)", "n=f32:per_row",
       "`n` is declared per_row, but has a value for each group of columns: expected row or col",
       "n = group_max(sum)"},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("The halves of a pair go together, without the sum itself", "[expression]") {
  const Bad all[] = {
      {"out = gate(sum)", "", "gate(sum) is one half of a pair, and nothing uses the other, up(sum)",
       "gate(sum)"},
      {"out = up(sum)", "", "up(sum) is one half of a pair, and nothing uses the other, gate(sum)",
       "up(sum)"},
      {"out = gate(sum) * up(sum) + sum", "",
       "the sums are a gated pair elsewhere; they can be used as gate(sum) and up(sum) only", "sum"},
      {"out = gate(sum + 1) * up(sum)", "", "`gate` takes the sums themselves: gate(sum)",
       "sum + 1) * up(sum)"},
      {"out = gate(x) * up(x)", "x=f32:row", "`gate` takes the sums themselves: gate(sum)", "x) * up(x)"},
      {"out = gate8(sum)", "", "gate8(sum) is one half of a pair, and nothing uses the other, up8(sum)",
       "gate8(sum)"},
      {"out = up8(sum)", "", "up8(sum) is one half of a pair, and nothing uses the other, gate8(sum)",
       "up8(sum)"},
      {"out = gate8(sum) * up8(sum) + sum", "",
       "the sums are a gated pair elsewhere; they can be used as gate8(sum) and up8(sum) only", "sum"},
      {"out = gate(sum) * up8(sum)", "",
       "the pairs lie in blocks of eight columns or in halves; `up8` and `gate` do not go together",
       "up8(sum)"},
      {"out = up8(sum) * gate8(sum) * up(sum)", "",
       "the pairs lie in blocks of eight columns or in halves; `up` and `gate8` do not go together",
       "up(sum)"},
      {"out = gate8(2 * sum) * up8(sum)", "", "`gate8` takes the sums themselves: gate8(sum)",
       "2 * sum) * up8(sum)"},
      {"out = up() * gate(sum)", "", "`up` takes the sums themselves: up(sum)", ") * gate(sum)"},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("Rows are chosen by an index of a tensor that is declared gathered", "[expression]") {
  const std::string of = "t=bf16:gathered,i=s32:per_row";
  const std::string rows = "an index chooses rows of an input that is declared gathered";
  const std::string places = "an index is an input of s32:per_row";
  const Bad all[] = {
      {"out = sum + t", of,
       "`t` is gathered: an index chooses its rows, as in t[index] with index=s32:per_row", "t"},
      {"out = sum + t[i]", "t=bf16:row,i=s32:per_row", rows + ": expected t=TYPE:gathered", "t[i]"},
      {"out = sum + t[i]", "t=bf16,i=s32:per_row", rows + ": expected t=TYPE:gathered", "t[i]"},
      {"z = sum; out = z[i]", "i=s32:per_row", rows + ", and `z` is computed", "z[i]"},
      {"out = sum[i]", "i=s32:per_row", rows + ", and `sum` is computed", "sum[i]"},
      {"out = sum + t[i]", "t=bf16:gathered,i=f32:per_row", places + "; `i` is declared f32:per_row", "i]"},
      {"out = sum + t[i]", "t=bf16:gathered,i=s8:per_row", places + "; `i` is declared s8:per_row", "i]"},
      {"out = sum + t[i]", "t=bf16:gathered,i=s32:row", places + "; `i` is declared s32:row", "i]"},
      {"out = sum + t[i]", "t=bf16:gathered,i=s32", places + "; `i` is declared s32", "i]"},
      {"out = sum + t[t]", "t=s32:gathered", places + "; `t` is declared s32:gathered", "t]"},
      {"j = s32(sum); out = sum + t[j]", "t=bf16:gathered", places + ", and `j` is computed", "j]"},
      {"out = sum + t[sum]", "t=bf16:gathered", places + ", and `sum` is computed", "sum]"},
      {"out = sum + t[k]", of, "unknown name `k`; did you mean `t` or `i`?", "k]"},
      {"out = sum + u[i]", of, "unknown name `u`; did you mean `t` or `i`?", "u[i]"},
      {"out = sum + t[i + 1]", of, "expected the name of an input of s32:per_row and `]`, got `i`", "i + 1]"},
      {"out = sum + t[2]", of, "expected the name of an input of s32:per_row and `]`, got `2`", "2]"},
      {"out = sum + t[]", of, "expected the name of an input of s32:per_row and `]`, got `]`", "]"},
      {"out = sum + t[i", of, "expected the name of an input of s32:per_row and `]`, got `i`", "i"},
      {"out = gelu(sum)[i]", of, "expected an operator, got `[`", "[i]"},
      {"out = sum + t[i] + i", of, "f32 and s32 do not mix; round one of them, for example f32(x)", "i"},
      {"out = sum + t[i] + t[j]", of + ",j=s32:per_row",
       "`t` has another index elsewhere; for a second one, give the table a second name", "j]"},
      {"out = sum", of, "nothing uses `t`", "t=bf16:gathered,i=s32:per_row"},
      {"out = sum + f32(i)", of, "nothing uses `t`", "t=bf16:gathered,i=s32:per_row"},
      {"out = sum; y = sum * 2", "y=f32:gathered",
       "`y` is declared gathered, but has a value for each element: expected row or col", "y = sum * 2"},
      {"out = sum; n = row_sum(sum) * t[i]", of,
       "the reduction is complete only after all elements, so nothing with more values can use it; elements "
       "can use "
       "group_max and group_sum",
       "* t[i]"},
  };
  for (const Bad& bad : all) check(bad);
}

TEST_CASE("Lists of tensors that cannot be read are refused", "[expression]") {
  const struct {
    std::string text;
    std::string message;
    std::string at;
  } all[] = {
      {"bias", "expected NAME=TYPE:SHAPE, got `bias`", "bias"},
      {"a=f32:row,", "expected NAME=TYPE:SHAPE behind the comma", ""},
      {"a=f32:row,,b=f32:row", "expected NAME=TYPE:SHAPE, got ``", ",b=f32:row"},
      {"a=fp16:row", "unknown type `fp16`; did you mean `f16` or `bf16`?", "fp16:row"},
      {"a=none:row",
       "unknown type `none`; expected `f16`, `bf16`, `f32`, `f64`, `s8`, `u8`, `s32`, `e4m3`, `e5m2`, "
       "`s4` or `u4`",
       "none:row"},
      {"a=f32:rows", "unknown shape `rows`; did you mean `row`?", "rows"},
      {"a=f32:",
       "unknown shape ``; expected `scalar`, `per_row`, `per_column`, `row`, `col` or "
       "`gathered`",
       ""},
      {"2a=f32:row", "`2a` cannot be the name of a tensor", "2a=f32:row"},
      {"b=f32:row, sum=f32:row", "`sum` cannot be the name of a tensor", "sum=f32:row"},
      {"a=f32:row,a=f16:row", "`a` is declared twice", "a=f16:row"},
  };
  for (const auto& bad : all) check_message(Declarations::parse(bad.text).status(), bad.message, bad.at);
  CHECK_FALSE(Expression::parse("out = sum + a", {{{"a", DType::f32}, {"a", DType::f16}}}));
  CHECK_FALSE(Expression::parse("out = sum", {{{"no name", DType::f32}}}));
}

TEST_CASE("Expressions that are too large are refused in bounded time", "[expression]") {
  const auto refused = [](const std::string& text, const std::string& why,
                          const Declarations& declared = {}) {
    const Result<Expression> e = Expression::parse(text, declared);
    REQUIRE_FALSE(e);
    INFO(e.status().message());
    CHECK(e.status().message().find(why) == 0);
  };
  std::string sums = "out = sum";
  for (int i = 0; i < 330; ++i) sums += " * sum + " + std::to_string(i);
  CHECK(Expression::parse(sums));
  for (int i = 0; i < 100; ++i) sums += " * sum + " + std::to_string(i + 1000);
  refused(sums, "the expression is too large; expected at most 1000 different values");
  for (const std::string open : {"(", "-", "exp(", "min(sum, ", "select(sum > 0, 0, "}) {
    std::string nested = "out = ";
    for (int i = 0; i < 2000; ++i) nested += open;
    refused(nested + "sum", "nested too deeply; expected at most 100 levels");
  }
  std::string statements = "a0 = 1";
  for (int i = 1; i < 4000; ++i) statements += ";a" + std::to_string(i) + "=a" + std::to_string(i - 1) + "+1";
  CHECK(Expression::parse(statements + "; out = sum + a3999"));
  refused("out = sum" + std::string(expression::max_text_bytes, ' '), "the expression is too long");
  refused("out = " + std::string(65, 'x'), "name is too long; expected at most 64 characters");

  std::string text = "out = sum";
  Declarations inputs;
  for (int i = 0; i < 17; ++i) {
    inputs.tensors.push_back({"x" + std::to_string(i), DType::f32, expression::Shape::row});
    text += " + x" + std::to_string(i);
  }
  refused(text, "too many inputs; expected at most 16", inputs);
  for (int i = 17; i < 30; ++i) inputs.tensors.push_back({"x" + std::to_string(i), DType::f32});
  refused("out = sum", "too many tensors; expected at most 16 inputs and 8 outputs", inputs);
  std::string outputs = "out = sum";
  for (int i = 0; i < 8; ++i) outputs += "; y" + std::to_string(i) + " = sum * " + std::to_string(i + 2);
  refused(outputs, "too many outputs; expected at most 8");
}

TEST_CASE("Random bytes are read or refused", "[expression]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const std::string parts[] = {"out", " = ", "sum",  "+",       "-",         "*",        "/",    "(",
                               ")",   ",",   ";",    "gelu",    "max(",      "x",        "1",    "0.5",
                               "<",   "and", "not",  "select(", "gate(sum)", "row_sum(", "\xff", "=",
                               "s8(", "nan", "t[i]", "[",       "]"};
  const Declarations declared = {.tensors = {{"x", DType::f32, expression::Shape::row},
                                             {"t", DType::f32, expression::Shape::gathered},
                                             {"i", DType::s32, expression::Shape::per_row}}};
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = random() % 2 == 0 ? "out = sum+x+t[i]" : "";
    for (auto n = random() % 12; n > 0; --n) text += parts[random() % std::size(parts)];
    const Result<Expression> e = Expression::parse(text, declared);
    INFO(text << "\n" << e.status().message());
    if (!e) REQUIRE(e.status().message().back() == '^');
    if (!e) continue;
    ++read;
    REQUIRE(*Expression::parse(e->text(), e->declarations()) == *e);
  }
  CHECK(read > 100);
}

}  // namespace
}  // namespace quarry
