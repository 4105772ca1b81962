/// Random filters over random kernels: what a parsed text says of a kernel is what its expression says when
/// it is evaluated directly, here, in another way.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/filter.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using K = const KernelMetadata&;

/// A number while a filter is evaluated: an integer or a decimal.
struct Value {
  bool is_decimal = false;
  std::int64_t integer = 0;
  double decimal = 0;
  double as_decimal() const { return is_decimal ? decimal : static_cast<double>(integer); }
};

/// How tightly an expression's outermost operator binds; a value that is no operator binds tightest.
enum Level { disjunction, conjunction, negation, comparison, sum, product, sign, primary };

/// A random expression: its text, and its meaning. Empty: no value.
template <class Meaning>
struct Expression {
  std::string text;
  Level level = primary;
  std::function<Meaning(K)> of;
  bool is_decimal = false;
};
using NumberExpression = Expression<std::optional<Value>>;
using Condition = Expression<bool>;
using TextExpression = Expression<std::string_view>;
using WordExpression = Expression<std::int64_t>;

std::optional<Value> exact(__int128 number) {
  if (number < std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  if (number > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return Value{.integer = static_cast<std::int64_t>(number)};
}

std::optional<Value> calculate(char op, const Value& a, const Value& b) {
  if (a.is_decimal || b.is_decimal) {
    const double x = a.as_decimal();
    const double y = b.as_decimal();
    if (op == '/' && y == 0) return std::nullopt;
    const double result = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
    if (!std::isfinite(result)) return std::nullopt;
    return Value{.is_decimal = true, .decimal = result};
  }
  const __int128 x = a.integer;
  const __int128 y = b.integer;
  if ((op == '/' || op == '%') && y == 0) return std::nullopt;
  switch (op) {
    case '+': return exact(x + y);
    case '-': return exact(x - y);
    case '*': return exact(x * y);
    case '/': return exact(x / y);
    default: return exact(x % y);
  }
}

template <class T>
bool holds(const std::string& op, const T& a, const T& b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

bool holds(const std::string& op, const Value& a, const Value& b, bool in_decimals) {
  return in_decimals ? holds(op, a.as_decimal(), b.as_decimal()) : holds(op, a.integer, b.integer);
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Condition condition(int depth) {
    const unsigned kind = below(depth > 0 ? 12 : 7);
    switch (kind) {
      case 0: return flag();
      case 1: return words();
      case 2: return word_list();
      case 3: return texts();
      case 4: return presence();
      case 5: return number_list(depth);
      case 6:
      case 7: return numbers(depth);
      case 8: return negated(condition(depth - 1));
      case 9: return equality(condition(depth - 1), condition(depth - 1));
      default: return joined(condition(depth - 1), condition(depth - 1));
    }
  }

  KernelMetadata kernel() {
    KernelMetadata k;
    k.name = pick(names);
    k.family = pick(families);
    k.cc = pick({80, 90});
    if (chance(2)) k.max_cc = 90;
    for (OperandMetadata* operand : {&k.operands.a, &k.operands.b}) {
      operand->dtype = static_cast<DType>(1 + below(4));
      operand->layout = static_cast<Layout>(below(layout_count));
      operand->alignment = 1 << below(4);
    }
    k.operands.accumulator = static_cast<DType>(1 + below(4));
    k.design.tile = {pick({0, 64, 128}), pick({64, 128, 256}), 32};
    if (chance(2)) k.design.stages = pick({0, 2, 3, 4});
    if (chance(2)) k.design.warps = Extent3{pick({1, 2, 4}), 2, 1};
    k.epilogue.bias = chance(2);
    k.modes.split_k_serial = chance(2);
    return k;
  }

 private:
  static constexpr std::string_view names[] = {"gemm_a", "gemm_b", "conv_a", "gemm", ""};
  static constexpr std::string_view families[] = {"gemm", "conv", "gemm_b"};
  static constexpr std::string_view comparisons[] = {"==", "!=", "<", "<=", ">", ">="};

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  bool chance(unsigned one_in) { return below(one_in) == 0; }
  template <class T, std::size_t n>
  T pick(const T (&values)[n]) {
    return values[below(n)];
  }
  std::string space() { return std::string(below(2), ' '); }

  /// The text as an operand that must bind at least so tightly; sometimes in parentheses that it does not
  /// need.
  template <class Meaning>
  std::string operand(const Expression<Meaning>& e, Level least) {
    return e.level < least || chance(12) ? "(" + space() + e.text + space() + ")" : e.text;
  }

  NumberExpression constant() {
    static const std::string decimals[] = {"0.5", "2.0", "1e300", "64.0", "1.5e2", "0.0"};
    if (chance(6)) {
      const std::string text = decimals[below(6)];
      const double value = std::stod(text);
      return {text, primary, [value](K) { return Value{.is_decimal = true, .decimal = value}; }, true};
    }
    const std::int64_t value =
        pick<std::int64_t>({0, 1, 2, 3, 7, 64, 80, 128, 128, 256, 4611686018427387904, 9223372036854775807});
    return {std::to_string(value), primary, [value](K) { return Value{.integer = value}; }};
  }

  NumberExpression number_field() {
    struct Known {
      const char* path;
      std::optional<int> (*value)(K);
    };
    constexpr Known known[] = {
        {"cc", [](K k) { return std::optional(k.cc); }},
        {"max_cc", [](K k) { return k.max_cc; }},
        {"stages", [](K k) { return k.design.stages; }},
        {"design.stages", [](K k) { return k.design.stages; }},
        {"tile.m", [](K k) { return std::optional(k.design.tile.m); }},
        {"tile.n", [](K k) { return std::optional(k.design.tile.n); }},
        {"warps.m",
         [](K k) { return k.design.warps ? std::optional(k.design.warps->m) : std::optional<int>(); }},
        {"a.alignment", [](K k) { return std::optional(k.operands.a.alignment); }},
    };
    const Known field = pick(known);
    return {field.path, primary, [field](K k) -> std::optional<Value> {
              const auto value = field.value(k);
              return value ? std::optional(Value{.integer = *value}) : std::nullopt;
            }};
  }

  NumberExpression number(int depth) {
    if (depth == 0 || chance(2)) return chance(2) ? constant() : number_field();
    if (chance(5)) return negative(number(depth - 1));
    const NumberExpression a = number(depth - 1);
    const NumberExpression b = number(depth - 1);
    const bool decimal = a.is_decimal || b.is_decimal;
    const char op = decimal ? pick({'+', '-', '*', '/'}) : pick({'+', '-', '*', '/', '%'});
    const Level level = op == '+' || op == '-' ? sum : product;
    const auto of = [op, left = a.of, right = b.of](K k) -> std::optional<Value> {
      const auto x = left(k);
      const auto y = right(k);
      return x && y ? calculate(op, *x, *y) : std::nullopt;
    };
    const std::string text =
        operand(a, level) + space() + op + space() + operand(b, static_cast<Level>(level + 1));
    return {text, level, of, decimal};
  }

  NumberExpression negative(const NumberExpression& e) {
    const auto of = [inner = e.of](K k) -> std::optional<Value> {
      const auto value = inner(k);
      return value ? calculate('-', Value{}, *value) : std::nullopt;
    };
    return {"-" + operand(e, sign), sign, of, e.is_decimal};
  }

  Condition numbers(int depth) {
    const NumberExpression a = number(depth);
    const NumberExpression b = number(depth);
    const bool decimal = a.is_decimal || b.is_decimal;
    const std::string op(pick(comparisons));
    return {operand(a, sum) + space() + op + space() + operand(b, sum), comparison,
            [op, decimal, left = a.of, right = b.of](K k) {
              const auto x = left(k);
              const auto y = right(k);
              return x && y && holds(op, *x, *y, decimal);
            }};
  }

  Condition number_list(int depth) {
    const NumberExpression x = number(depth);
    bool decimal = x.is_decimal;
    std::vector<std::function<std::optional<Value>(K)>> items;
    std::string list;
    for (unsigned count = 1 + below(4); count > 0; --count) {
      const NumberExpression item = number(depth > 0 ? depth - 1 : 0);
      decimal = decimal || item.is_decimal;
      items.push_back(item.of);
      list += (list.empty() ? "" : ", ") + operand(item, sum);
    }
    return {operand(x, sum) + " in (" + list + ")", comparison, [x = x.of, items, decimal](K k) {
              const auto left = x(k);
              bool any = false;
              for (const auto& item : items) {
                const auto right = item(k);
                any = any || (left && right && holds("==", *left, *right, decimal));
              }
              return any;
            }};
  }

  WordExpression dtype_constant() {
    const auto value = static_cast<DType>(1 + below(4));
    const std::string word(to_string(value));
    const std::string text = chance(3) ? "'" + word + "'" : word;
    return {text, primary, [value](K) { return static_cast<std::int64_t>(value); }};
  }

  WordExpression dtype_field() {
    switch (below(3)) {
      case 0: return {"a.dtype", primary, [](K k) { return static_cast<std::int64_t>(k.operands.a.dtype); }};
      case 1: return {"b.dtype", primary, [](K k) { return static_cast<std::int64_t>(k.operands.b.dtype); }};
      default:
        return {"accumulator", primary,
                [](K k) { return static_cast<std::int64_t>(k.operands.accumulator); }};
    }
  }

  WordExpression dtype() { return chance(2) ? dtype_constant() : dtype_field(); }

  Condition words() {
    if (chance(4)) {
      const std::string part = pick({"f", "16", "3", "bf16", "x"});
      return {"a.dtype ~ '" + part + "'", comparison,
              [part](K k) { return to_string(k.operands.a.dtype).find(part) != std::string_view::npos; }};
    }
    const std::string op = chance(2) ? "==" : "!=";
    const WordExpression field = dtype_field();
    const WordExpression other = dtype();
    const bool swapped = chance(2);
    return {(swapped ? other : field).text + space() + op + space() + (swapped ? field : other).text,
            comparison, [op, a = field.of, b = other.of](K k) { return holds(op, a(k), b(k)); }};
  }

  Condition word_list() {
    const WordExpression x = dtype_field();
    std::vector<std::function<std::int64_t(K)>> items;
    std::string list;
    const bool constants = chance(2);
    for (unsigned count = 1 + below(3); count > 0; --count) {
      const WordExpression item = constants ? dtype_constant() : dtype();
      items.push_back(item.of);
      list += (list.empty() ? "" : ",") + item.text;
    }
    return {x.text + " in (" + list + ")", comparison, [x = x.of, items](K k) {
              bool any = false;
              for (const auto& item : items) any = any || item(k) == x(k);
              return any;
            }};
  }

  TextExpression text() {
    if (chance(3)) return {"name", primary, [](K k) { return k.name; }};
    if (chance(3)) return {"family", primary, [](K k) { return k.family; }};
    const std::string_view value =
        pick({std::string_view("gemm"), std::string_view("gemm_b"), std::string_view("conv"),
              std::string_view("_"), std::string_view("")});
    const std::string quote = chance(2) ? "'" : "\"";
    return {quote + std::string(value) + quote, primary, [value](K) { return value; }};
  }

  Condition texts() {
    const TextExpression a = text();
    const TextExpression b = text();
    if (chance(3)) {
      return {a.text + " ~ " + b.text, comparison,
              [a = a.of, b = b.of](K k) { return a(k).find(b(k)) != std::string_view::npos; }};
    }
    if (chance(3)) {
      return {a.text + " in (" + b.text + ", 'conv_a')", comparison,
              [a = a.of, b = b.of](K k) { return a(k) == b(k) || a(k) == "conv_a"; }};
    }
    const std::string op(pick(comparisons));
    return {a.text + op + b.text, comparison,
            [op, a = a.of, b = b.of](K k) { return holds(op, a(k), b(k)); }};
  }

  Condition presence() {
    switch (below(4)) {
      case 0: return {"has(stages)", primary, [](K k) { return k.design.stages.has_value(); }};
      case 1: return {"has( warps )", primary, [](K k) { return k.design.warps.has_value(); }};
      case 2: return {"has(max_cc)", primary, [](K k) { return k.max_cc.has_value(); }};
      default: return {"has(name)", primary, [](K) { return true; }};
    }
  }

  Condition flag() {
    switch (below(4)) {
      case 0: return {"bias", primary, [](K k) { return k.epilogue.bias; }};
      case 1: return {"split_k_serial", primary, [](K k) { return k.modes.split_k_serial; }};
      case 2: return {"true", primary, [](K) { return true; }};
      default: return {"false", primary, [](K) { return false; }};
    }
  }

  Condition negated(const Condition& e) {
    const std::string text = (chance(2) ? "not " : "!") + operand(e, negation);
    return {text, negation, [inner = e.of](K k) { return !inner(k); }};
  }

  Condition equality(const Condition& a, const Condition& b) {
    const std::string op = chance(2) ? "==" : "!=";
    return {operand(a, sum) + " " + op + " " + operand(b, sum), comparison,
            [op, a = a.of, b = b.of](K k) { return holds(op, a(k), b(k)); }};
  }

  Condition joined(const Condition& a, const Condition& b) {
    const bool both = chance(2);
    const Level level = both ? conjunction : disjunction;
    const std::string op = both ? pick({" and ", " && "}) : pick({" or ", " || "});
    const std::string text = operand(a, level) + op + operand(b, static_cast<Level>(level + 1));
    return {text, level, [both, a = a.of, b = b.of](K k) { return both ? a(k) && b(k) : a(k) || b(k); }};
  }

  std::mt19937_64 random_;
};

TEST_CASE("A random filter says of random kernels what its expression means", "[filter]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  Generator generator(seed);
  std::vector<KernelMetadata> kernels;
  for (int i = 0; i < 50; ++i) kernels.push_back(generator.kernel());
  int passed = 0;
  int asked = 0;
  for (int round = 0; round < 6000; ++round) {
    const Condition condition = generator.condition(round % 5);
    const auto filter = Filter::parse(condition.text);
    INFO("round " << round << ": " << condition.text << "\n" << filter.status().message());
    REQUIRE(filter);
    for (const KernelMetadata& kernel : kernels) {
      const bool expected = condition.of(kernel);
      if ((*filter)(kernel) != expected) {
        INFO("kernel " << (&kernel - kernels.data()));
        REQUIRE((*filter)(kernel) == expected);
      }
      passed += expected ? 1 : 0;
      ++asked;
    }
  }
  // Neither answer is a rare one.
  CHECK(passed > asked / 5);
  CHECK(passed < asked * 4 / 5);
}

}  // namespace
}  // namespace quarry
