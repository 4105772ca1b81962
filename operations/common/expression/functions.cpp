#include "operations/common/expression/functions.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "basic/words.hpp"
#include "operations/common/host/activation.hpp"
#include "operations/common/host/arithmetic.hpp"
#include "operations/common/host/derivative.hpp"

namespace quarry::detail {
namespace {

using expression::Extent;

template <class F>
constexpr int operands_of() {
  if constexpr (std::is_invocable_v<F, float>) return 1;
  if constexpr (std::is_invocable_v<F, float, float>) return 2;
  return 3;
}

/// `F` of the values at x, in T.
template <class T, class F>
T apply(const T* x) {
  if constexpr (operands_of<F>() == 1) return static_cast<T>(F{}(x[0]));
  if constexpr (operands_of<F>() == 2) return static_cast<T>(F{}(x[0], x[1]));
  if constexpr (operands_of<F>() == 3) return static_cast<T>(F{}(x[0], x[1], x[2]));
}

template <Domain domain, class F>
constexpr Function row(std::string_view name, Binding binding, Accuracy accuracy, std::string_view device,
                       F) {
  Function function = {
      name, operands_of<F>(), domain, binding, accuracy, apply<float, F>, apply<double, F>, nullptr, device};
  if constexpr (domain != Domain::floating) function.in_s32 = apply<std::int32_t, F>;
  return function;
}

template <Domain domain = Domain::floating, class F>
constexpr Function function(std::string_view name, Accuracy accuracy, F f) {
  return row<domain>(name, Binding::tight, accuracy, name, f);
}

/// An activation of the standard epilogue.
template <Activation which>
constexpr auto activation = [](auto x) { return host::activate(which, 0, x); };
template <Activation which>
constexpr auto derivative = [](auto x) { return host::derivative(which, 0, x); };

constexpr auto minimum = [](auto a, auto b) { return std::isnan(a) || a < b ? a : b; };  // NaN stays
constexpr auto maximum = [](auto a, auto b) { return std::isnan(a) || a > b ? a : b; };
constexpr auto negated = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return host::multiplied(x, -1);
  else
    return -x;
};
constexpr auto magnitude = [](auto x) {
  if constexpr (std::is_integral_v<decltype(x)>)
    return x < 0 ? host::multiplied(x, -1) : x;
  else
    return std::abs(x);
};

using enum Accuracy;

// clang-format off
constexpr Function table[] = {
    row<Domain::logic>("or", Binding::disjunction, exact, "either", [](auto a, auto b) { return a != 0 || b != 0; }),
    row<Domain::logic>("and", Binding::conjunction, exact, "both", [](auto a, auto b) { return a != 0 && b != 0; }),
    row<Domain::logic>("not", Binding::negation, exact, "opposite", [](auto a) { return a == 0; }),
    row<Domain::comparison>("==", Binding::comparison, exact, "is_equal", [](auto a, auto b) { return a == b; }),
    row<Domain::comparison>("!=", Binding::comparison, exact, "is_unequal", [](auto a, auto b) { return a != b; }),
    row<Domain::comparison>("<", Binding::comparison, exact, "is_less", [](auto a, auto b) { return a < b; }),
    row<Domain::comparison>("<=", Binding::comparison, exact, "is_at_most", [](auto a, auto b) { return a <= b; }),
    row<Domain::comparison>(">", Binding::comparison, exact, "is_greater", [](auto a, auto b) { return a > b; }),
    row<Domain::comparison>(">=", Binding::comparison, exact, "is_at_least", [](auto a, auto b) { return a >= b; }),
    row<Domain::numbers>("+", Binding::sum, rounded, "plus", [](auto a, auto b) { return host::added(a, b); }),
    row<Domain::numbers>("-", Binding::sum, rounded, "minus", [](auto a, auto b) { return host::added(a, negated(b)); }),
    row<Domain::numbers>("*", Binding::product, rounded, "times", [](auto a, auto b) { return host::multiplied(a, b); }),
    row<Domain::floating>("/", Binding::product, rounded, "quotient", [](auto a, auto b) { return a / b; }),
    row<Domain::numbers>("-", Binding::sign, exact, "negative", negated),

    function<Domain::selection>("select", exact, [](auto condition, auto a, auto b) { return condition != 0 ? a : b; }),
    function<Domain::numbers>("min", exact, minimum),
    function<Domain::numbers>("max", exact, maximum),
    function<Domain::numbers>("clamp", exact, [](auto x, auto low, auto high) { return minimum(maximum(x, low), high); }),
    function<Domain::numbers>("abs", exact, magnitude),
    function("exp", accurate, [](auto x) { return std::exp(x); }),
    function("log", accurate, [](auto x) { return std::log(x); }),
    function("sqrt", rounded, [](auto x) { return std::sqrt(x); }),
    function("rsqrt", accurate, [](auto x) { return 1 / std::sqrt(x); }),
    function("erf", composite, [](auto x) { return std::erf(x); }),

    function<Domain::numbers>("relu", exact, [](auto x) { return x < 0 ? decltype(x){0} : x; }),
    function("leaky_relu", rounded, [](auto x) { return x < 0 ? x * static_cast<decltype(x)>(0.01F) : x; }),
    function("leaky_relu", rounded, [](auto x, auto slope) { return x < 0 ? x * slope : x; }),
    function("tanh", composite, activation<Activation::tanh>),
    function("sigmoid", composite, activation<Activation::sigmoid>),
    function("silu", composite, activation<Activation::silu>),
    function("hardswish", composite, activation<Activation::hardswish>),
    function("gelu", composite, activation<Activation::gelu>),
    function("gelu_tanh", composite, activation<Activation::gelu_tanh>),

    function("relu_derivative", exact, derivative<Activation::relu>),
    function("leaky_relu_derivative", exact, [](auto x) { return std::isnan(x) ? x : x > 0 ? 1 : static_cast<decltype(x)>(0.01F); }),
    function("leaky_relu_derivative", exact, [](auto x, auto slope) { return std::isnan(x) ? x : x > 0 ? 1 : slope; }),
    function("tanh_derivative", composite, derivative<Activation::tanh>),
    function("sigmoid_derivative", composite, derivative<Activation::sigmoid>),
    function("silu_derivative", composite, derivative<Activation::silu>),
    function("hardswish_derivative", composite, derivative<Activation::hardswish>),
    function("gelu_derivative", composite, derivative<Activation::gelu>),
    function("gelu_tanh_derivative", composite, derivative<Activation::gelu_tanh>),
};

constexpr Reduction reduction_table[] = {
    {"max", true, Extent::all},           {"sum", false, Extent::all},
    {"row_max", true, Extent::row},       {"row_sum", false, Extent::row},
    {"column_max", true, Extent::column}, {"column_sum", false, Extent::column},
    {"group_max", true, Extent::group},   {"group_sum", false, Extent::group},
};
// clang-format on

}  // namespace

std::span<const Function> functions() { return table; }
std::span<const Reduction> reductions() { return reduction_table; }

std::optional<std::uint16_t> find_function(std::string_view name, std::size_t operands) {
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const auto expected = static_cast<std::size_t>(table[i].operands);
    if (table[i].name == name && expected == operands) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

expression::Pairs pairs_of(std::string_view name) {
  using enum expression::Pairs;
  for (const expression::Pairs pairs : {halves, eights}) {
    if (name == gate_name(pairs) || name == up_name(pairs)) return pairs;
  }
  return none;
}

std::optional<std::uint16_t> find_reduction(std::string_view name) {
  for (std::size_t i = 0; i < std::size(reduction_table); ++i) {
    if (reduction_table[i].name == name) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

std::span<const std::string_view> callable_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all = {"gate", "up", "gate8", "up8"};
    const auto add = [&all](std::string_view name) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    };
    for (const Function& f : table) {
      if (!f.is_operator()) add(f.name);
    }
    for (const Reduction& r : reduction_table) add(r.name);
    for (const std::string_view type : std::span(dtype_words).subspan(1)) add(type);
    return all;
  }();
  return names;
}

}  // namespace quarry::detail
