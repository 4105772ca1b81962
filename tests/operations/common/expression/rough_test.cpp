/// Which activations of an epilogue need not be exact.
#include "operations/common/expression/rough.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "operations/common/expression/functions.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

namespace quarry {
namespace {

using detail::NodeKind;

/// The functions of the rough nodes of an expression, in order of their names.
std::vector<std::string> rough_in(const Expression& e, DType out) {
  const std::vector<bool> rough = detail::rough_nodes(e.graph(), out);
  REQUIRE(rough.size() == e.graph().nodes.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rough.size(); ++i) {
    if (!rough[i]) continue;
    REQUIRE(e.graph().nodes[i].kind == NodeKind::call);
    names.emplace_back(detail::functions()[e.graph().nodes[i].which].name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> rough_in(const char* text, const char* with, DType out = DType::bf16,
                                  DType sum = DType::f32) {
  return rough_in(test::parsed(text, with, sum), out);
}

using Names = std::vector<std::string>;

TEST_CASE("Activations are rough where they end in outputs of few bits alone", "[expression]") {
  CHECK(rough_in("out = gelu(sum)", "") == Names{"gelu"});
  CHECK(rough_in("out = gelu(sum)", "", DType::f16) == Names{"gelu"});
  CHECK(rough_in("out = gelu(sum)", "", DType::s8) == Names{"gelu"});
  CHECK(rough_in("out = gelu(sum)", "", DType::f32).empty());
  CHECK(rough_in("out = gelu(sum)", "", DType::none).empty());
  CHECK(rough_in("out = gelu(sum)", "out=bf16:row", DType::none) == Names{"gelu"});
  CHECK(rough_in("out = gelu(sum)", "out=f32:row").empty());
  CHECK(rough_in("out = tanh(sum) + sigmoid(sum) + silu(sum) + hardswish(sum) + gelu_tanh(sum)", "") ==
        Names{"gelu_tanh", "hardswish", "sigmoid", "silu", "tanh"});
  CHECK(rough_in("out = select(sum > 0, -clamp(gelu(sum), 0, 6) * x, abs(min(silu(sum), x)))", "x=f16:row") ==
        Names{"gelu", "silu"});
}

TEST_CASE("Activations are exact where more comes of them than few bits", "[expression]") {
  // Another output, of more bits or without a type.
  CHECK(rough_in("z = silu(sum); out = z", "z=f32:row").empty());
  CHECK(rough_in("z = silu(sum); out = z", "z=f16:row") == Names{"silu"});
  CHECK(rough_in("out = sum; z = silu(sum) * 2", "").empty());
  CHECK(rough_in("z = sum * 2; out = silu(sum)", "z=f32:row") == Names{"silu"});
  // Reductions, of any type.
  CHECK(rough_in("z = silu(sum); out = z; m = max(z)", "m=f16:scalar").empty());
  CHECK(rough_in("z = silu(sum); out = z / group_max(z)", "").empty());
  // Functions that make an error greater than the values, or a step of it.
  for (const char* text : {"out = exp(silu(sum))", "out = log(sigmoid(sum))", "out = sum / tanh(sum)",
                           "out = select(tanh(sum) < 0.5, 1, 0)", "out = gelu_derivative(gelu(sum))",
                           "out = bf16(silu(sum))", "out = relu(rsqrt(sigmoid(sum)))"}) {
    INFO(text);
    CHECK(rough_in(text, "").empty());
  }
  // The outer one is.
  CHECK(rough_in("out = gelu(silu(sum))", "") == Names{"gelu"});
}

TEST_CASE("Activations of other types, and without sums, are exact", "[expression]") {
  CHECK(rough_in("out = gelu(sum)", "", DType::bf16, DType::f64).empty());
  CHECK(rough_in("out = gelu(f32(sum))", "", DType::bf16, DType::s32) == Names{"gelu"});
  CHECK(rough_in("out = gelu(x)", "x=bf16:row", DType::bf16, DType::none).empty());
}

}  // namespace
}  // namespace quarry
