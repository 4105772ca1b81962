/// The parts of an operation's rules that it may leave out: see registry/operation.hpp.
#pragma once

#include <string>
#include <string_view>

#include "operations/common/export_recipe.hpp"
#include "quarry/expression.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

template <class Rules>
concept HasProfile = requires {
  typename Rules::Profile;
};
template <class Rules>
concept HasQuestion = requires {
  typename Rules::Question;
};
/// Operations whose questions have an expression beside them.
template <class Rules>
concept AsksOfExpressions = requires(const typename Rules::Problem& problem) {
  Rules::expression_word(problem);
};
/// Operations whose kernels have an expression compiled in where a problem has one.
template <class Rules>
concept CompilesExpressions = requires(const typename Rules::Problem& problem) {
  Rules::known_expression(problem);
};
template <class Rules>
concept Exchanges = requires(const typename Rules::Problem& problem) {
  Rules::exchanged(problem);
};
template <class Rules>
concept Weighs = requires(typename Rules::Problem& problem) {
  Rules::weigh(problem);
};
template <class Rules>
concept TakesSurely = requires {
  &Rules::surely_takes;
};
template <class Rules>
concept MakesProblem = requires {
  Rules::makes_problem;
};
template <class Rules>
concept HasControls = requires {
  &Rules::settle;
};
template <class Rules>
concept CanBeInvariant = requires {
  &Rules::make_invariant;
};

template <class Rules>
constexpr const ExportRecipe* recipe_of() {
  if constexpr (requires { Rules::recipe; }) return &Rules::recipe;
  return nullptr;
}
template <class Rules>
constexpr std::string_view no_recipe_of() {
  if constexpr (requires { Rules::no_recipe; }) return Rules::no_recipe;
  return "its operation is exported for one problem at a time, as a plan";
}

template <class Rules>
constexpr auto expression_code_of() -> Result<std::string> (*)(const Expression&, std::string_view) {
  if constexpr (requires { &Rules::expression_code; }) return &Rules::expression_code;
  return nullptr;
}

}  // namespace quarry::detail
