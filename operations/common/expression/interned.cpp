#include "operations/common/expression/interned.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "operations/common/expression/graph.hpp"

namespace quarry::detail {
namespace {

constexpr std::size_t digits = 16;
constexpr std::string_view separator = "_x";

/// Never destroyed: launches and entries refer to what is kept.
struct Expressions {
  std::shared_mutex mutex;
  std::map<std::uint64_t, InternedExpression> by_number;
};

Expressions& expressions() {
  static Expressions* const the = new Expressions;
  return *the;
}

/// The place of an expression: its own, or the one where it belongs.
std::uint64_t number_of(const Expressions& all, const Expression& expression) {
  std::uint64_t number = expression.hash();
  for (;; ++number) {
    const auto found = all.by_number.find(number);
    if (found == all.by_number.end() || found->second.expression == expression) return number;
  }
}

/// The expression with the types of its outputs declared.
Expression typed(const Expression& expression, std::span<const DType> outputs) {
  const ExpressionGraph& graph = expression.graph();
  const auto is_typed = [](const expression::Output& o) { return o.tensor.dtype != DType::none; };
  if (std::ranges::all_of(graph.outputs, is_typed)) return expression;
  auto made = std::make_shared<ExpressionGraph>(graph);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) made->outputs[i].tensor.dtype = outputs[i];
  return Expression(std::move(made));
}

const InternedExpression* find_kept(const Expression& expression) {
  Expressions& all = expressions();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_number.find(number_of(all, expression));
  return found == all.by_number.end() ? nullptr : &found->second;
}

}  // namespace

const InternedExpression* interned(const Expression& expression) {
  if (const InternedExpression* const kept = find_kept(expression)) return kept;
  Expressions& all = expressions();
  const std::lock_guard lock(all.mutex);
  const std::uint64_t number = number_of(all, expression);
  return &all.by_number.try_emplace(number, InternedExpression{expression, number}).first->second;
}

const InternedExpression* interned(const Expression& expression, std::span<const DType> outputs) {
  return interned(typed(expression, outputs));
}

const InternedExpression* find_interned(const Expression& expression, std::span<const DType> outputs) {
  return find_kept(typed(expression, outputs));
}

const InternedExpression* find_interned(std::uint64_t number) {
  Expressions& all = expressions();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_number.find(number);
  return found == all.by_number.end() ? nullptr : &found->second;
}

std::string entry_name_with(std::string_view entry, const InternedExpression& expression) {
  std::string name(entry);
  name.append(separator);
  for (std::size_t i = digits; i-- > 0;) name += "0123456789abcdef"[expression.number >> (4 * i) & 15U];
  return name;
}

std::optional<ExpressionEntryName> parse_expression_entry(std::string_view name) {
  if (name.size() <= digits + separator.size()) return std::nullopt;
  const std::string_view number = name.substr(name.size() - digits);
  const std::string_view front = name.substr(0, name.size() - digits);
  if (!front.ends_with(separator)) return std::nullopt;
  ExpressionEntryName parts = {front.substr(0, front.size() - separator.size()), 0};
  const auto read = std::from_chars(number.data(), number.data() + digits, parts.number, 16);
  if (read.ec != std::errc() || read.ptr != number.data() + digits) return std::nullopt;
  return parts;
}

}  // namespace quarry::detail
