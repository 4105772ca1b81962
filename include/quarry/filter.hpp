/// Filters select kernels by their metadata: a predicate in C++, or an expression in text.
#pragma once

#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// A predicate on KernelMetadata. Cheap to call, safe to call from many threads; the default takes every
/// kernel.
class Filter {
 public:
  using Predicate = std::function<bool(const KernelMetadata&)>;

  Filter() = default;

  /// From any callable on `const KernelMetadata&` that returns a bool. It must not throw.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Filter> &&
           std::is_invocable_r_v<bool, F, const KernelMetadata&>) Filter(F&& predicate)
      : predicate_(std::forward<F>(predicate)) {}

  /// From text, such as `cc == 80 and a.dtype in (f16, bf16) and tile.m * tile.n >= 128 * 128`.
  ///
  /// Values: numbers, 'strings' or "strings", true, false, fields by their shortest unambiguous path (tile.m,
  /// a.dtype, stages), and bare words in comparisons with a field of words. Operators, lowest
  /// precedence first: `or` (`||`), `and` (`&&`), `not` (`!`), comparisons (`== != < <= > >=`, `in (...)`,
  /// `~` for contains), `+ -`, `* / %`, unary `-`; parentheses; `has(field)`. A comparison with an absent
  /// field is false.
  ///
  /// On an error the Status (parse_error, or not_found for an unknown field) has three lines: what is wrong,
  /// the text, and a caret under the column at fault.
  static Result<Filter> parse(std::string_view text);

  /// Whether the kernel passes.
  bool operator()(const KernelMetadata& kernel) const { return !predicate_ || predicate_(kernel); }

  /// False for the default filter, which takes everything.
  bool restricts() const { return static_cast<bool>(predicate_); }

 private:
  Predicate predicate_;
};

}  // namespace quarry
