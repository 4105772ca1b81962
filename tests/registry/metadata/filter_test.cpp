/// The filter language: what expressions mean, and what is said of those that mean nothing.
#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/filter.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

/// A tensor-core kernel with every field.
KernelMetadata kernel() {
  KernelMetadata k;
  k.name = "gemm_sm80_f16_f16_f32_f16_rcr_128x256x32_w2x4x1_s3_a8x4";
  k.family = "gemm_sm80";
  k.cc = 80;
  k.operands.a = {DType::f16, Layout::row, 8};
  k.operands.b = {DType::f16, Layout::column, 4};
  k.operands.c = {DType::f16, Layout::row, 1};
  k.operands.out = {DType::f16, Layout::row, 1};
  k.operands.accumulator = DType::f32;
  k.design.tile = {128, 256, 32};
  k.design.warps = Extent3{2, 4, 1};
  k.design.stages = 3;
  k.design.instruction = Extent3{16, 8, 16};
  k.design.math_unit = MathUnit::tensor_core;
  k.design.threads = 256;
  k.design.shared_memory = 73728;
  k.epilogue.activation = true;
  k.modes.split_k_serial = true;
  return k;
}

/// The same without the parts that a family may lack.
KernelMetadata plain_kernel() {
  KernelMetadata k = kernel();
  k.design.warps.reset();
  k.design.stages.reset();
  k.design.instruction.reset();
  return k;
}

bool passes(std::string_view text, const KernelMetadata& k) {
  const auto filter = Filter::parse(text);
  INFO(text << "\n" << filter.status().message());
  REQUIRE(filter);
  return (*filter)(k);
}

/// Checks expressions that hold for a kernel, and that their opposites do not.
void check_all_hold(const std::vector<std::string>& texts, const KernelMetadata& k) {
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(passes(text, k));
    CHECK_FALSE(passes("not (" + text + ")", k));
  }
}

TEST_CASE("Fields of every type are compared", "[filter]") {
  check_all_hold({"cc == 80",
                  "cc != 90",
                  "cc < 81",
                  "cc <= 80",
                  "cc > 79",
                  "cc >= 80",
                  "80 == cc",
                  "81 > cc",
                  "79 < cc",
                  "80 <= cc",
                  "80 >= cc",
                  "a.dtype == f16",
                  "a.dtype != bf16",
                  "f16 == a.dtype",
                  "a.dtype == 'f16'",
                  "\"f16\" == a.dtype",
                  "a.dtype == b.dtype",
                  "a.layout != b.layout",
                  "accumulator == f32",
                  "math_unit == tensor_core",
                  "operation == gemm",
                  "family == gemm_sm80",
                  "'gemm_sm80' == family",
                  "family < 'gemm_sm90'",
                  "family != gemm_simt",
                  "name != family",
                  "design.tile.m == 128",
                  "split_k_serial",
                  "split_k_serial == true",
                  "true == split_k_serial",
                  "split_k_parallel == false",
                  "split_k_serial != split_k_parallel",
                  "not bias",
                  "!bias",
                  "activation"},
                 kernel());
}

TEST_CASE("Comparisons end where they should", "[filter]") {
  for (const std::string_view text :
       {"cc < 80", "cc > 80", "cc != 80", "cc <= 79", "cc >= 81", "cc == 81", "80 < cc", "80 > cc",
        "cc < -9223372036854775807 - 1", "cc > 9223372036854775807", "a.dtype == bf16", "a.dtype != f16",
        "name < ''", "split_k_serial == false", "bias", "family == 'gemm'", "tile.m + 0 < 128"}) {
    INFO(text);
    CHECK_FALSE(passes(text, kernel()));
  }
}

TEST_CASE("Numbers are computed with", "[filter]") {
  check_all_hold({"tile.m * tile.n >= 128 * 128",
                  "tile.m + tile.n == 384",
                  "tile.m - tile.n == -128",
                  "tile.n / tile.m == 2",
                  "tile.m % 100 == 28",
                  "-7 / 2 == -3",
                  "-7 % 2 == -1",
                  "7 / 2 == 3",
                  "7 / 2.0 == 3.5",
                  "1e3 == 1000",
                  "1.5e-1 * 2 == 0.3",
                  "tile.m / 1.5 > 85",
                  "0.1 + 0.2 > 0.3",
                  "1 + 2 * 3 == 7",
                  "(1 + 2) * 3 == 9",
                  "10 - 4 - 3 == 3",
                  "100 / 10 / 5 == 2",
                  "- -5 == 5",
                  "-tile.m == 0 - 128",
                  "2 * -3 == -6",
                  "9223372036854775807 > 9223372036854775806",
                  "-9223372036854775807 - 1 < -9223372036854775807",
                  "(-9223372036854775807 - 1) % -1 == 0",
                  "tile.m > 127.5",
                  "127.5 < tile.m"},
                 kernel());
}

TEST_CASE("Operators bind as documented", "[filter]") {
  check_all_hold(
      {"true or false and false", "not false and true", "not cc == 90", "! cc == 90",
       "true || false && false", "not not true", "not (true and false)", "cc == 80 and not bias or false",
       "(cc == 80) == activation", "(cc == 90) == bias", "(bias or activation) != (bias and activation)",
       "true", "1 < 2", "'b' > 'a'", "cc==80&&tile.m>64||bias", "\t cc\n==\r80 "},
      kernel());
}

TEST_CASE("in and ~ ask for parts", "[filter]") {
  check_all_hold({"a.dtype in (f16, bf16)",
                  "a.dtype in ('f16')",
                  "cc in (90, 80)",
                  "80 in (cc, 90)",
                  "tile.m in (64, 100 + 28, tile.n)",
                  "tile.m in (127.5, 128)",
                  "tile.m * 2 in (1, 256)",
                  "family in (gemm_simt, gemm_sm80)",
                  "family in ('x', name, family)",
                  "f16 in (a.dtype, b.dtype)",
                  "a.dtype in (accumulator, b.dtype)",
                  "true in (bias, activation)",
                  "a.dtype in (b.dtype)",
                  "name ~ '128x256'",
                  "name ~ sm80",
                  "name ~ family",
                  "name ~ ''",
                  "name ~ 'a8x4'",
                  "name ~ 'gemm'",
                  "name ~ name",
                  "a.dtype ~ '16'",
                  "a.dtype ~ f",
                  "math_unit ~ core",
                  "not name ~ 'a8x4x'",
                  "not 1 in (cc)",
                  "not name ~ sm90"},
                 kernel());
}

TEST_CASE("A comparison with an absent field is false", "[filter]") {
  for (const std::string_view text :
       {"stages == 3", "stages != 3", "stages < 3", "stages >= 0", "3 != stages", "stages == stages",
        "stages != stages", "stages + 1 > 0", "tile.m > stages", "stages in (1, 2, 3)", "stages * 1.5 > 0",
        "max_cc == 90", "warps.m + tile.m > 0", "tile.m in (stages)", "-stages < 0"}) {
    INFO(text);
    CHECK_FALSE(passes(text, plain_kernel()));
    CHECK(passes("not (" + std::string(text) + ")", plain_kernel()));
  }
  // What does not need the field is not harmed by it.
  check_all_hold({"tile.m in (stages, 128)", "stages == 3 or cc == 80", "not stages == 3 and cc == 80",
                  "(stages == 3) == bias"},
                 plain_kernel());
}

TEST_CASE("has tells whether a field or a part is there", "[filter]") {
  check_all_hold({"has(stages)", "has(warps)", "has(warps.m)", "has(design.warps)", "has(name)", "has(a)",
                  "not has(max_cc)", "has( cc )"},
                 kernel());
  check_all_hold({"not has(stages)", "not has(warps)", "not has(instruction)", "has(tile)", "has(design)"},
                 plain_kernel());
}

TEST_CASE("What has no result makes its comparison false", "[filter]") {
  for (const std::string_view text :
       {"1 / 0 == 0", "1 % 0 == 0", "1 / 0 != 0", "tile.m / (tile.m - 128) == 0", "tile.m % (cc - 80) != 1",
        "1.0 / 0 > 0", "9223372036854775807 + 1 != 0", "tile.m * 9223372036854775807 != 0",
        "-(-9223372036854775807 - 1) != 0", "(-9223372036854775807 - 1) / -1 != 0",
        "-9223372036854775807 - 2 != 0", "1e308 * 10 > 1", "1 / 0 in (0, 1)", "1 in (1 / 0)"}) {
    INFO(text);
    CHECK_FALSE(passes(text, kernel()));
    CHECK(passes("not (" + std::string(text) + ")", kernel()));
  }
}

TEST_CASE("A filter is a predicate like any other", "[filter]") {
  CHECK(Filter()(kernel()));
  CHECK_FALSE(Filter().restricts());
  const auto parsed = Filter::parse("cc == 90");
  REQUIRE(parsed);
  CHECK(parsed->restricts());
  Filter copy = *parsed;
  CHECK_FALSE(copy(kernel()));
  copy = Filter([](const KernelMetadata& k) { return k.cc == 80; });
  CHECK(copy(kernel()));
}

TEST_CASE("A filter outlives its text", "[filter]") {
  std::string text = "family == 'gemm_sm80' and name ~ 'a_text_longer_than_any_small_string'";
  const auto filter = Filter::parse(text);
  REQUIRE(filter);
  std::fill(text.begin(), text.end(), '?');
  CHECK_FALSE((*filter)(kernel()));
}

struct Mistake {
  std::string text;
  std::size_t column;
  std::string what;
  StatusCode code = StatusCode::parse_error;
};

void check_mistake(const Mistake& mistake) {
  INFO(mistake.text);
  const auto filter = Filter::parse(mistake.text);
  REQUIRE_FALSE(filter);
  CHECK(filter.status().code() == mistake.code);
  CHECK(filter.status().message() ==
        mistake.what + "\n" + mistake.text + "\n" + std::string(mistake.column, ' ') + "^");
}

TEST_CASE("Mistakes in the words are shown where they are", "[filter]") {
  const std::string end = "expected a value, got the end of the filter";
  for (const Mistake& mistake : std::vector<Mistake>{
           {"", 0, end},
           {"   ", 3, end},
           {"cc ==", 5, end},
           {"not", 3, end},
           {"cc == 80 and", 12, end},
           {"cc == )", 6, "expected a value, got `)`"},
           {"cc == in", 6, "expected a value, got `in`"},
           {"cc == not true", 6, "expected a value, got `not`"},
           {"(cc == 80", 9, "expected `)`, got the end of the filter"},
           {"cc == 80)", 8, "`)` without `(`"},
           {"cc == 80 tile.m", 9, "expected an operator, got `tile.m`"},
           {"cc in 80", 6, "expected `(`, got `80`"},
           {"cc in ()", 7, "expected a value, got `)`"},
           {"cc in (80", 9, "expected `)`, got the end of the filter"},
           {"cc in (80,)", 10, "expected a value, got `)`"},
           {"has stages", 4, "expected `(`, got `stages`"},
           {"has(3)", 4, "expected a field, got `3`"},
           {"has(stages", 10, "expected `)`, got the end of the filter"},
           {"cc = 80", 3, "`=` is no operator; did you mean `==`?"},
           {"cc == 80 & bias", 9, "`&` is no operator; did you mean `&&`?"},
           {"cc == 80 | bias", 9, "`|` is no operator; did you mean `||`?"},
           {"cc == 80 # x", 9, "unexpected character"},
           {"name == 'abc", 8, "text without a closing quote"},
           {"name == \"abc'", 8, "text without a closing quote"},
           {"name ~ 128x256", 7, "malformed number; a text that begins with a digit needs quotes"},
           {"cc == 1.2.3", 6, "malformed number; a text that begins with a digit needs quotes"},
           {"cc < 9223372036854775808", 5, "number is too large; integers have 64 bits"},
           {"cc < 1e999", 5, "number is out of the range of decimals"},
           {"1 < cc < 100", 7, "comparisons do not chain; join them with `and`, or use parentheses"},
           {"cc in (80) in (90)", 11,
            "comparisons do not chain; join them with `and`, or use parentheses"}}) {
    check_mistake(mistake);
  }
}

TEST_CASE("Mistakes in the names are shown where they are", "[filter]") {
  const auto unknown = StatusCode::not_found;
  for (const Mistake& mistake : std::vector<Mistake>{
           {"cc == 80 and stags > 2", 13, "unknown field `stags`; did you mean `stages`?", unknown},
           {"tile.q > 2", 0, "unknown field `tile.q`; did you mean `tile.m`, `tile.n` or `tile.k`?", unknown},
           {"foo", 0, "unknown field `foo`", unknown},
           {"foo == bar", 0, "unknown field `foo`", unknown},
           {"cc == foo", 6, "unknown field `foo`", unknown},
           {"foo in (cc)", 0, "unknown field `foo`", unknown},
           {"has(foo)", 4, "unknown field `foo`", unknown},
           {"has(dtype)", 4,
            "field `dtype` is ambiguous; expected `a.dtype`, `b.dtype`, `c.dtype` or `out.dtype`"},
           {"dtype == f16", 0,
            "field `dtype` is ambiguous; expected `a.dtype`, `b.dtype`, `c.dtype` or `out.dtype`"},
           {"f16 == dtype", 7,
            "field `dtype` is ambiguous; expected `a.dtype`, `b.dtype`, `c.dtype` or `out.dtype`"},
           {"a.dtype == fp16", 11, "unknown word of a.dtype `fp16`; did you mean `f16` or `bf16`?"},
           {"fp16 == a.dtype", 0, "unknown word of a.dtype `fp16`; did you mean `f16` or `bf16`?"},
           {"a.dtype == 'fp16'", 11, "unknown word of a.dtype `fp16`; did you mean `f16` or `bf16`?"},
           {"a.layout == col", 12,
            "unknown word of a.layout `col`; did you mean `column` or `column_interleaved32`?"},
           {"a.dtype in (f16, quux)", 17,
            "unknown word of a.dtype `quux`; expected `none`, `f16`, `bf16`, `f32`, `f64`, `s8`, `u8`, "
            "`s32`, `e4m3`, `e5m2`, `s4` or `u4`"}}) {
    check_mistake(mistake);
  }
}

TEST_CASE("Mistakes in the types are shown where they are", "[filter]") {
  for (const Mistake& mistake : std::vector<Mistake>{
           {"tile.m", 0, "expected a condition, got a number"},
           {"bias and (tile.m + 1)", 10, "expected a condition, got a number"},
           {"not a.dtype", 4, "expected a condition, got a word"},
           {"name or bias", 0, "expected a condition, got a text"},
           {"bias or 'x'", 8, "expected a condition, got a text"},
           {"a.dtype == 16", 11, "cannot compare a word with a number"},
           {"16 == a.dtype", 6, "cannot compare a number with a word"},
           {"tile.m == 'x'", 10, "cannot compare a number with a text"},
           {"tile.m == bias", 10, "cannot compare a number with a condition"},
           {"name == cc", 8, "cannot compare a text with a number"},
           {"name == a.dtype", 8, "cannot compare a text with a word"},
           {"cc in (80, 'x')", 11, "cannot compare a number with a text"},
           {"a.dtype == a.layout", 11, "cannot compare a.dtype with a.layout: their words differ"},
           {"a.dtype < f16", 8, "words have no order; expected `==` or `!=`"},
           {"bias < true", 5, "conditions have no order; expected `==` or `!=`"},
           {"1 + bias == 2", 4, "expected a number, got a condition"},
           {"a.dtype * 2 == 4", 0, "expected a number, got a word"},
           {"-name == 4", 1, "expected a number, got a text"},
           {"cc % 1.5 == 0", 0, "`%` takes integers only"},
           {"cc ~ '8'", 0, "expected a text or a word in front of `~`, got a number"},
           {"name ~ 128", 7, "expected a text behind `~`, got a number; a text may need quotes"},
           {"name ~ bias", 7, "expected a text behind `~`, got a condition; a text may need quotes"},
           {"a.dtype ~ family", 10, "expected a text in quotes behind `~`, got a field"}}) {
    check_mistake(mistake);
  }
}

/// The lines of an error.
std::vector<std::string> lines_of(std::string_view text) {
  const auto filter = Filter::parse(text);
  REQUIRE_FALSE(filter);
  std::istringstream message(filter.status().message());
  std::vector<std::string> lines;
  for (std::string line; std::getline(message, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("The caret lines up under tabs and any characters", "[filter]") {
  const auto shown = [](std::string_view text) {
    const auto lines = lines_of(text);
    REQUIRE(lines.size() == 3);
    return std::vector<std::string>{lines[1], lines[2]};
  };
  using Lines = std::vector<std::string>;
  CHECK(shown("\tname ==\t3") == Lines{"\tname ==\t3", "\t       \t^"});
  CHECK(shown("name == 'äöü' and cc") == Lines{"name == 'äöü' and cc", "                  ^"});
  CHECK(shown("name == '漢' and cc") == Lines{"name == '漢' and cc", "                 ^"});
  CHECK(shown("name == 'e\u0301' and cc") == Lines{"name == 'e\u0301' and cc", "                ^"});
  CHECK(shown("cc == ≥") == Lines{"cc == ≥", "      ^"});
  CHECK(shown("name == '\xff\n\x1b' and cc") == Lines{"name == '?\?\?' and cc", "                  ^"});
  CHECK(shown(std::string_view("cc ==\0 80", 9)) == Lines{"cc ==? 80", "     ^"});
}

TEST_CASE("Of a long filter the part around the mistake is shown", "[filter]") {
  std::string text = "cc == 80";
  for (int i = 0; i < 1000; ++i) text += " and cc == 80";
  const auto lines = lines_of(text + " and foo and " + text);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "unknown field `foo`");
  CHECK(lines[1].size() < 160);
  REQUIRE(lines[2].size() < lines[1].size());
  CHECK(lines[1].substr(lines[2].size() - 1, 3) == "foo");
}

std::string repeated(std::string_view part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST_CASE("Filters may be long", "[filter]") {
  constexpr int many = 20000;
  CHECK(passes("cc == 80" + repeated(" and cc == 80", many), kernel()));
  CHECK(passes("cc == 90" + repeated(" or cc == 90", many) + " or cc == 80", kernel()));
  CHECK(passes("0" + repeated("+1", many) + " == 20000", kernel()));
  CHECK(passes("cc - cc" + repeated("+cc-cc", many) + " == 0", kernel()));
  CHECK(passes("cc + cc in (0" + repeated(",1", many) + ", 160)", kernel()));
  CHECK(passes("family in (x" + repeated(",x", many) + ", gemm_sm80)", kernel()));
}

TEST_CASE("Filters may nest, within a limit", "[filter]") {
  CHECK(passes(repeated("(", 100) + "cc == 80" + repeated(")", 100), kernel()));
  CHECK(passes(repeated("not ", 100) + "cc == 80", kernel()));
  CHECK(passes("cc == " + repeated("- ", 100) + "80", kernel()));
  CHECK(passes(repeated("false == (", 100) + "true" + repeated(")", 100), kernel()));
  CHECK(passes(repeated("1 + 1 * (", 99) + "0" + repeated(")", 99) + " == 99", kernel()));
  CHECK(passes(repeated("(81 == cc + 1) == (", 99) + "true" + repeated(")", 99), kernel()));
  CHECK(passes("2 in (1, 1 + 1 * -(-1))", kernel()));
  for (const std::string part :
       {"(", "not ", "! ", "- ", "(-", "cc in (", "true == (", "has(", "cc + cc * ("}) {
    INFO(part);
    CHECK_FALSE(Filter::parse(repeated(part, 100000)));
  }
  const auto deep = lines_of(repeated("(", 100000) + "true" + repeated(")", 100000));
  CHECK(deep[0] == "nested too deeply; expected at most 100 levels of parentheses and signs");
  CHECK(lines_of(repeated("true and ", 200000) + "true")[0] ==
        "the filter is too long; expected at most 1048576 bytes");
}

TEST_CASE("Random texts are taken or refused, and nothing else", "[filter]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> parts = {"cc",     "a.dtype", "f16",    "tile.m", "name",  "split_k_serial",
                                          "stages", "has(",    "(",      ")",      " in (", ",",
                                          "==",     "!=",      "<",      "<=",     "~",     "+",
                                          "-",      "*",       "/",      "%",      "and",   " or ",
                                          "not ",   "!",       "'text'", "\"",     "'",     "80",
                                          "1.5",    "1e",      "true",   "\t",     " ",     "\n",
                                          "ä",      "\xff",    "dtype",  "warps",  ".",     "=",
                                          "&"};
  std::size_t taken = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned length = static_cast<unsigned>(random() % 12); length > 0; --length) {
      text +=
          random() % 8 == 0 ? std::string(1, static_cast<char>(random())) : parts[random() % parts.size()];
    }
    const auto filter = Filter::parse(text);
    if (filter) {
      ++taken;
      const bool one = (*filter)(kernel());
      REQUIRE((*filter)(kernel()) == one);
      continue;
    }
    const std::string message = filter.status().message();
    INFO(message);
    REQUIRE(std::count(message.begin(), message.end(), '\n') == 2);
    REQUIRE(message.back() == '^');
  }
  CHECK(taken > 0);
}

}  // namespace
}  // namespace quarry
