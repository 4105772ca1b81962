/// Expressions that device code was or will be made of: kept to the end of the process, so that entries can
/// name them by a number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "quarry/expression.hpp"

namespace quarry::detail {

struct InternedExpression {
  Expression expression;
  /// The expression's hash, and so the same in every program; the next free number where another expression
  /// has that.
  std::uint64_t number;
};

/// The one kept copy of an expression. Safe from any thread; takes a lock. Throws std::bad_alloc, having kept
/// nothing.
const InternedExpression* interned(const Expression& expression);

/// The same of an expression whose outputs, in its order, are of these types.
const InternedExpression* interned(const Expression& expression, std::span<const DType> outputs);

/// The expression that kernels of a problem have compiled in, as machine code is looked up by it: absent
/// where the problem has none, null where this program keeps none like it, so that it has no machine code
/// with it.
using KnownExpression = std::optional<const InternedExpression*>;

/// The kept copy of an expression whose outputs are of these types, or null. Keeps nothing.
const InternedExpression* find_interned(const Expression& expression, std::span<const DType> outputs);

/// The expression of a number; null where this program has not interned it.
const InternedExpression* find_interned(std::uint64_t number);

/// The name of an entry with an expression compiled in: "elementwise_v8_u4_x0123456789abcdef".
std::string entry_name_with(std::string_view entry, const InternedExpression& expression);

/// Such a name in its parts; nothing for the name of an entry without an expression.
struct ExpressionEntryName {
  std::string_view entry;
  std::uint64_t number;
};
std::optional<ExpressionEntryName> parse_expression_entry(std::string_view name);

}  // namespace quarry::detail
