#include "registry/metadata/filter_parser.hpp"

#include <optional>
#include <string>
#include <vector>

#include "basic/text.hpp"
#include "registry/metadata/filter_builder.hpp"
#include "registry/metadata/filter_lexer.hpp"

namespace quarry::detail {
namespace {

std::optional<Comparison> comparison_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::equal: return Comparison::equal;
    case TokenKind::not_equal: return Comparison::not_equal;
    case TokenKind::less: return Comparison::less;
    case TokenKind::less_equal: return Comparison::less_equal;
    case TokenKind::greater: return Comparison::greater;
    case TokenKind::greater_equal: return Comparison::greater_equal;
    case TokenKind::contains: return Comparison::contains;
    default: return std::nullopt;
  }
}

std::optional<Arithmetic> sum_of(TokenKind kind) {
  if (kind == TokenKind::plus) return Arithmetic::add;
  if (kind == TokenKind::minus) return Arithmetic::subtract;
  return std::nullopt;
}

std::optional<Arithmetic> product_of(TokenKind kind) {
  if (kind == TokenKind::times) return Arithmetic::multiply;
  if (kind == TokenKind::divide) return Arithmetic::divide;
  if (kind == TokenKind::modulo) return Arithmetic::modulo;
  return std::nullopt;
}

/// Recursive descent, one function for each strength of binding. After an error every token reads as the end
/// of the text, so that the functions return by themselves.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), build_(text) { advance(); }

  Result<Tree> filter() {
    const NodeId root = build_.condition(disjunction());
    if (kind() == TokenKind::close) fail("`)` without `(`");
    if (kind() != TokenKind::end) fail("expected an operator, got " + shown());
    return build_.finish(root);
  }

 private:
  TokenKind kind() const { return build_.failed() ? TokenKind::end : token_.kind; }
  std::string shown() const {
    if (kind() == TokenKind::end) return "the end of the filter";
    return quoted(text_.substr(token_.offset, token_.next - token_.offset));
  }
  NodeId fail(const std::string& what) { return build_.fail(token_.offset, what); }

  void advance() {
    token_ = next_token(text_, token_.next);
    if (token_.kind == TokenKind::error) fail(std::string(token_.problem));
  }

  bool accept(TokenKind wanted) {
    if (kind() != wanted) return false;
    advance();
    return true;
  }

  void expect(TokenKind wanted, std::string_view spelling) {
    if (!accept(wanted)) fail("expected " + quoted(spelling) + ", got " + shown());
  }

  /// One level deeper: what `inside` parses, or an error past the limit.
  NodeId nested(std::size_t offset, NodeId (Parser::*inside)()) {
    if (depth_ == max_nesting) {
      return build_.fail(offset, "nested too deeply; expected at most " + std::to_string(max_nesting) +
                                     " levels of parentheses and signs");
    }
    ++depth_;
    const NodeId node = (this->*inside)();
    --depth_;
    return node;
  }

  NodeId disjunction() {
    NodeId left = conjunction();
    while (accept(TokenKind::or_operator)) left = build_.disjunction(left, conjunction());
    return left;
  }

  NodeId conjunction() {
    NodeId left = negation();
    while (accept(TokenKind::and_operator)) left = build_.conjunction(left, negation());
    return left;
  }

  NodeId negation() {
    const std::size_t offset = token_.offset;
    if (!accept(TokenKind::not_operator)) return comparison();
    return build_.negation(nested(offset, &Parser::negation), offset);
  }

  NodeId comparison() {
    const NodeId left = sum();
    const std::size_t offset = token_.offset;
    const auto op = comparison_of(kind());
    NodeId node = left;
    if (accept(TokenKind::in)) {
      node = build_.in(left, items());
    } else if (op) {
      advance();
      const NodeId right = sum();
      node = op == Comparison::contains ? build_.contains(left, right)
                                        : build_.compare(*op, left, right, offset);
    }
    // Only behind a comparison can one more stand here.
    if (!comparison_of(kind()) && kind() != TokenKind::in) return node;
    return fail("comparisons do not chain; join them with `and`, or use parentheses");
  }

  std::vector<NodeId> items() {
    std::vector<NodeId> list;
    expect(TokenKind::open, "(");
    do list.push_back(sum());
    while (accept(TokenKind::comma));
    expect(TokenKind::close, ")");
    return list;
  }

  NodeId sum() {
    NodeId left = product();
    while (const auto op = sum_of(kind())) {
      advance();
      left = build_.arithmetic(*op, left, product());
    }
    return left;
  }

  NodeId product() {
    NodeId left = signed_value();
    while (const auto op = product_of(kind())) {
      advance();
      left = build_.arithmetic(*op, left, signed_value());
    }
    return left;
  }

  NodeId signed_value() {
    const std::size_t offset = token_.offset;
    if (!accept(TokenKind::minus)) return value();
    const NodeId inner = nested(offset, &Parser::signed_value);
    return build_.arithmetic(Arithmetic::subtract, build_.integer(0, offset), inner);
  }

  NodeId value() {
    const Token token = token_;
    switch (kind()) {
      case TokenKind::integer: advance(); return build_.integer(token.integer, token.offset);
      case TokenKind::decimal: advance(); return build_.decimal(token.decimal, token.offset);
      case TokenKind::text: advance(); return build_.text(token.text, token.offset);
      case TokenKind::name: advance(); return build_.name(token.text, token.offset);
      case TokenKind::true_value: advance(); return build_.boolean(true, token.offset);
      case TokenKind::false_value: advance(); return build_.boolean(false, token.offset);
      case TokenKind::has: advance(); return has();
      case TokenKind::open: advance(); return enclosed(token.offset);
      default: return fail("expected a value, got " + shown());
    }
  }

  NodeId enclosed(std::size_t offset) {
    const NodeId inner = nested(offset, &Parser::disjunction);
    expect(TokenKind::close, ")");
    return inner;
  }

  NodeId has() {
    expect(TokenKind::open, "(");
    const Token field = token_;
    if (!accept(TokenKind::name)) return fail("expected a field, got " + shown());
    expect(TokenKind::close, ")");
    return build_.has(field.text, field.offset);
  }

  std::string_view text_;
  TreeBuilder build_;
  Token token_;
  int depth_ = 0;
};

}  // namespace

Result<Tree> parse_filter(std::string_view text) {
  if (text.size() > max_filter_bytes) {
    return error_at(StatusCode::parse_error,
                    "the filter is too long; expected at most " + std::to_string(max_filter_bytes) + " bytes",
                    text, max_filter_bytes);
  }
  return Parser(text).filter();
}

}  // namespace quarry::detail
