/// Comparisons tell right from wrong, and kept results come back as they were.
#include "tests/kernels/arch/comparison.hpp"

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "tests/kernels/arch/results.hpp"

using namespace quarry::test;
using Element = Comparison::Element;

namespace {

bool same(const Comparison& comparison, const Words& a, const Words& b) {
  const bool forward = difference(comparison, a, b).wrong == 0;
  CHECK(forward == (difference(comparison, b, a).wrong == 0));
  return forward;
}

constexpr std::uint32_t one = 0x3f800000;
constexpr std::uint32_t infinity = 0x7f800000;
constexpr std::uint32_t negative = 0x80000000;
constexpr std::uint32_t smallest = 0x00800000;  // normal number

/// A probe that makes only what a test gives it.
Probe probe_of(const Comparison& comparison) {
  return {.kernel = "k", .covers = {}, .make_inputs = nullptr, .out_words = 0, .comparison = comparison};
}

Table table_with(const Probe& probe, const Words& inputs, const Words& result) {
  return {"heading", {{probe.name(), record(probe, inputs, result)}}};
}

}  // namespace

TEST_CASE("bits must be equal, numbers but for their NaNs") {
  CHECK(same({}, {1, 2}, {1, 2}));
  CHECK_FALSE(same({}, {1, 2}, {1, 3}));
  CHECK_FALSE(same({}, {0x7fc00000}, {0x7fc00001}));
  CHECK(difference({.element = Element::bits16}, {0x7fff0001, 0x7fff7c01}, {0x7fff0001, 0x7ffe7c01}).first ==
        3);
  const Comparison number = {.element = Element::f32};
  CHECK(same(number, {0x7fc00000}, {0xffc00001}));
  CHECK_FALSE(same(number, {0x7fc00000}, {infinity}));
  CHECK_FALSE(same(number, {0}, {negative}));
  CHECK_FALSE(same(number, {one}, {one + 1}));
}

TEST_CASE("numbers may be off by units in the last place, no sign, no infinity") {
  const Comparison near = {.element = Element::f32, .ulps = 2};
  CHECK(same(near, {one}, {one + 2}));
  CHECK(same(near, {smallest}, {smallest - 2}));
  CHECK_FALSE(same(near, {one}, {one + 3}));
  CHECK_FALSE(same(near, {one}, {one | negative}));
  CHECK_FALSE(same(near, {0}, {negative}));
  CHECK_FALSE(same(near, {infinity}, {infinity - 1}));
  CHECK_FALSE(same(near, {infinity}, {infinity + 1}));
  CHECK(same(near, {infinity}, {infinity}));
  const Difference found = difference(near, {one, one, 5}, {one + 1, one + 7, 9});
  CHECK(found.wrong == 2);
  CHECK(found.first == 1);
  CHECK(found.worst == 1);
  CHECK(found.text == "element 1 of 3: 3f800000 expected, 3f800007 got; 2 wrong");

  const Comparison half = {.element = Element::f16, .ulps = 1};
  CHECK(same(half, {0x3c007bfe}, {0x3c017bff}));
  CHECK_FALSE(same(half, {0x3c007bfe}, {0x3c007c00}));
  const Comparison wide = {.element = Element::f64, .ulps = 1};
  CHECK(same(wide, {0xffffffff, 0x3fefffff}, {0, 0x3ff00000}));
  CHECK_FALSE(same(wide, {0xfffffffe, 0x3fefffff}, {0, 0x3ff00000}));
}

TEST_CASE("results without subnormal numbers have none, and 0 beside the smallest number") {
  const Comparison flushed = {.element = Element::f32, .ulps = 1, .flushed = true};
  CHECK(same(flushed, {0}, {smallest}));
  CHECK(same(flushed, {negative}, {negative | smallest}));
  CHECK_FALSE(same(flushed, {0}, {smallest + 1}));
  CHECK_FALSE(same(flushed, {negative}, {smallest}));
  CHECK_FALSE(same(flushed, {1}, {1}));
  CHECK_FALSE(same(flushed, {smallest - 1}, {smallest}));
}

TEST_CASE("a table comes back from its text as it was") {
  Random random(quarry::lab::fresh_seed());
  const Words inputs = random_words(random, 10);
  const Probe exact = probe_of({});
  Probe near = probe_of({.element = Element::f64, .ulps = 3});
  near.inputs = "floats";
  const Words result = random_words(random, 1000);
  Table table = table_with(exact, inputs, result);
  table.results.emplace(near.name(), record(near, inputs, result));
  std::string fault;
  CHECK(table_of(to_text(table), fault) == table);
  CHECK(fault.empty());
  CHECK(check(exact, inputs, result, table).empty());
  CHECK(check(near, inputs, result, table).empty());

  for (const std::size_t i : {0U, 1U, 499U, 998U, 999U}) {
    Words other = result;
    other[i] ^= 1;
    INFO("word " << i);
    CHECK(check(exact, inputs, other, table).find("are not what the GPU gave") != std::string::npos);
    other[i] ^= 1 | 0x10;
    if (i % 2 == 0) CHECK(check(near, inputs, other, table).find("expected") != std::string::npos);
  }
}

TEST_CASE("a table that does not fit is refused") {
  const Words inputs = {1, 2, 3};
  const Words result = {4, 5};
  const Probe probe = probe_of({});
  const Table table = table_with(probe, inputs, result);
  CHECK(check(probe, inputs, result, {"heading", {}}).find("no result of a GPU") == 0);
  CHECK(check(probe, {1, 2, 4}, result, table).find("the inputs are not those") == 0);
  CHECK(check(probe, inputs, {4, 5, 6}, table).find("the result has another size") == 0);
}

TEST_CASE("bad tables are refused with the line") {
  const std::string good = "# h\nprobe a inputs 12 words 2\n1 2\n";
  std::string fault;
  table_of(good, fault);
  REQUIRE(fault.empty());
  const std::pair<std::string, std::string> bad[] = {
      {"", "the table is empty"},
      {"probe a inputs 12 words 2\n1 2\n", "line 1: the heading is missing"},
      {"# h\n1 2\n", "line 2: these are no values of a probe"},
      {good + "3\n", "line 4: the last probe has too few or too many values"},
      {"# h\nprobe a inputs 12 words 3\n1 2\n", "line 3: the last probe has too few or too many values"},
      {"# h\nprobe a inputs 12 words 3\n1\nprobe b inputs 12 words 1\n1\n",
       "line 4: the probe before has too few or too many values"},
      {good + "probe a inputs 12 words 2\n1 2\n", "line 4: this probe stands here twice"},
      {"# h\nprobe a inputs 12 words\n", "line 2: this is no heading of a probe"},
      {"# h\nprobe a inputs 12 sums 2\n1 2\n", "line 2: this is no heading of a probe"},
      {"# h\nprobe a inputs 12 words 2\n1 x\n", "line 3: these are no values of a probe"},
  };
  for (const auto& [text, message] : bad) {
    INFO(text);
    table_of(text, fault);
    CHECK(fault == message);
  }
}
