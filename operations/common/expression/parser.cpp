#include "operations/common/expression/parser.hpp"

#include <optional>
#include <string>
#include <vector>

#include "basic/text.hpp"
#include "operations/common/expression/builder.hpp"
#include "operations/common/expression/lexer.hpp"

namespace quarry::detail {
namespace {

/// How tightly the operator between two values binds.
std::optional<Binding> infix_binding(const Symbol& symbol) {
  if (symbol.kind != SymbolKind::operation) return std::nullopt;
  const auto function = find_function(symbol.text, 2);
  return function ? std::optional(functions()[*function].binding) : std::nullopt;
}

constexpr Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

/// Recursive descent over the operators' bindings. After an error every token reads as the end of the text,
/// so that the functions return by themselves.
class Parser {
 public:
  Parser(std::string_view text, const expression::Declarations& declared)
      : text_(text), build_(text, declared) {
    find_assignments();
    advance();
  }

  Result<ExpressionGraph> expression() {
    while (kind() != SymbolKind::end) {
      statement();
      if (kind() != SymbolKind::end) expect(SymbolKind::semicolon, ";");
    }
    return build_.finish();
  }

 private:
  SymbolKind kind() const { return build_.failed() ? SymbolKind::end : symbol_.kind; }
  std::string shown() const {
    if (kind() == SymbolKind::end) return "the end of the expression";
    return quoted(text_.substr(symbol_.offset, symbol_.next - symbol_.offset));
  }
  Term fail(const std::string& what) { return build_.fail(symbol_.offset, what); }
  Symbol next() const { return next_symbol(text_, symbol_.next); }

  void advance() {
    symbol_ = next();
    if (symbol_.kind == SymbolKind::error) fail(std::string(symbol_.problem));
  }

  bool accept(SymbolKind wanted) {
    if (kind() != wanted) return false;
    advance();
    return true;
  }

  void expect(SymbolKind wanted, std::string_view spelling) {
    if (!accept(wanted)) fail("expected " + quoted(spelling) + ", got " + shown());
  }

  /// Tells the builder which names statements assign, so that it knows what is used too early.
  void find_assignments() {
    bool begins = true;
    Symbol symbol = next_symbol(text_, 0);
    while (symbol.kind != SymbolKind::end && symbol.kind != SymbolKind::error && !build_.failed()) {
      const Symbol after = next_symbol(text_, symbol.next);
      if (begins && symbol.kind == SymbolKind::name && after.kind == SymbolKind::assign) {
        build_.expect_assignment(symbol.text, symbol.offset);
      }
      begins = symbol.kind == SymbolKind::semicolon;
      symbol = after;
    }
  }

  void statement() {
    const Symbol name = symbol_;
    if (!accept(SymbolKind::name)) {
      fail("expected the name of an output, got " + shown());
      return;
    }
    if (kind() != SymbolKind::assign) {
      fail("expected `=` behind " + quoted(name.text) + ", got " + shown());
      return;
    }
    advance();
    const Term value = operation(Binding::disjunction);
    if (kind() == SymbolKind::assign) fail("expected a value; did you mean `==`?");
    if (kind() == SymbolKind::close) fail("`)` without `(`");
    if (kind() != SymbolKind::semicolon && kind() != SymbolKind::end)
      fail("expected an operator, got " + shown());
    build_.assign(name.text, name.offset, value);
  }

  /// One level deeper: what operators of this binding join, or an error past the limit.
  Term nested(std::size_t offset, Binding least) {
    if (depth_ == max_expression_nesting) {
      return build_.fail(offset, "nested too deeply; expected at most " +
                                     std::to_string(max_expression_nesting) +
                                     " levels of parentheses, signs and functions");
    }
    ++depth_;
    const Term value = operation(least);
    --depth_;
    return value;
  }

  /// Values that are joined by operators of this binding or a tighter one.
  Term operation(Binding least) {
    if (least == Binding::negation || least == Binding::sign) return signed_value(least);
    if (least == Binding::tight) return value();
    Term left = operation(tighter(least));
    for (int count = 0; infix_binding(symbol_) == least && !build_.failed(); ++count) {
      if (least == Binding::comparison && count == 1) {
        return fail("comparisons do not chain; join them with `and`, or use parentheses");
      }
      const Symbol sign = symbol_;
      advance();
      const Term operands[] = {left, operation(tighter(least))};
      left = build_.call(sign.text, operands, sign.offset);
      left.offset = operands[0].offset;
    }
    return left;
  }

  /// An operator in front of a value, `not` or `-`, or what binds more tightly.
  Term signed_value(Binding binding) {
    const Symbol sign = symbol_;
    const bool is_sign =
        kind() == SymbolKind::operation && sign.text == (binding == Binding::sign ? "-" : "not");
    if (!is_sign) return operation(tighter(binding));
    advance();
    const Term operands[] = {nested(sign.offset, binding)};
    Term value = build_.call(sign.text, operands, sign.offset);
    value.offset = sign.offset;
    return value;
  }

  Term value() {
    const Symbol symbol = symbol_;
    switch (kind()) {
      case SymbolKind::number: advance(); return build_.constant(symbol.number, symbol.offset);
      case SymbolKind::open: advance(); return enclosed(symbol.offset);
      case SymbolKind::name:
        advance();
        if (kind() == SymbolKind::open) return call(symbol);
        if (kind() == SymbolKind::open_index) return row_of(symbol);
        return build_.name(symbol.text, symbol.offset);
      default: return fail("expected a value, got " + shown());
    }
  }

  Term enclosed(std::size_t offset) {
    Term inner = nested(offset, Binding::disjunction);
    inner.offset = offset;
    expect(SymbolKind::close, ")");
    return inner;
  }

  Term call(const Symbol& function) {
    expect(SymbolKind::open, "(");
    if (pairs_of(function.text) != expression::Pairs::none) return half(function);
    std::vector<Term> operands;
    do operands.push_back(nested(function.offset, Binding::disjunction));
    while (accept(SymbolKind::comma));
    expect(SymbolKind::close, ")");
    return build_.call(function.text, operands, function.offset);
  }

  /// Of `table[index]` what stands behind the table.
  Term row_of(const Symbol& table) {
    expect(SymbolKind::open_index, "[");
    const Symbol index = symbol_;
    if (kind() != SymbolKind::name || next().kind != SymbolKind::close_index)
      return fail("expected the name of an input of s32:per_row and `]`, got " + shown());
    advance();
    expect(SymbolKind::close_index, "]");
    return build_.row({table.text, table.offset}, {index.text, index.offset});
  }

  /// Of `gate(sum)` or `up(sum)` what stands behind the parenthesis.
  Term half(const Symbol& function) {
    const bool is_sum =
        kind() == SymbolKind::name && symbol_.text == "sum" && next().kind == SymbolKind::close;
    if (!is_sum)
      return fail(quoted(function.text) + " takes the sums themselves: " + std::string(function.text) +
                  "(sum)");
    advance();
    expect(SymbolKind::close, ")");
    return build_.half(function.text, function.offset);
  }

  std::string_view text_;
  GraphBuilder build_;
  Symbol symbol_;
  int depth_ = 0;
};

}  // namespace

Result<ExpressionGraph> parse_expression(std::string_view text, const expression::Declarations& declared) {
  constexpr std::size_t most = expression::max_text_bytes;
  if (text.size() > most) {
    return error_at(StatusCode::parse_error,
                    "the expression is too long; expected at most " + std::to_string(most) + " bytes", text,
                    most);
  }
  return Parser(text, declared).expression();
}

}  // namespace quarry::detail
