#include "registry/metadata/filter_lexer.hpp"

#include <charconv>
#include <system_error>

namespace quarry::detail {
namespace {

struct Spelling {
  std::string_view text;
  TokenKind kind;
};

constexpr Spelling keywords[] = {
    {"true", TokenKind::true_value}, {"false", TokenKind::false_value}, {"and", TokenKind::and_operator},
    {"or", TokenKind::or_operator},  {"not", TokenKind::not_operator},  {"in", TokenKind::in},
    {"has", TokenKind::has},
};

/// Longer ones first, so that `<=` is not read as `<`.
constexpr Spelling operators[] = {
    {"&&", TokenKind::and_operator}, {"||", TokenKind::or_operator}, {"==", TokenKind::equal},
    {"!=", TokenKind::not_equal},    {"<=", TokenKind::less_equal},  {">=", TokenKind::greater_equal},
    {"<", TokenKind::less},          {">", TokenKind::greater},      {"!", TokenKind::not_operator},
    {"~", TokenKind::contains},      {"+", TokenKind::plus},         {"-", TokenKind::minus},
    {"*", TokenKind::times},         {"/", TokenKind::divide},       {"%", TokenKind::modulo},
    {"(", TokenKind::open},          {")", TokenKind::close},        {",", TokenKind::comma},
};

/// What people write who think of another language.
struct Mistake {
  char character;
  std::string_view problem;
};
constexpr Mistake mistakes[] = {
    {'=', "`=` is no operator; did you mean `==`?"},
    {'&', "`&` is no operator; did you mean `&&`?"},
    {'|', "`|` is no operator; did you mean `||`?"},
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

Token error(std::size_t offset, std::string_view problem) {
  Token token{.kind = TokenKind::error, .offset = offset, .next = offset};
  token.problem = problem;
  return token;
}

Token token_of(TokenKind kind, std::size_t offset, std::string_view text) {
  return {.kind = kind, .offset = offset, .text = text, .next = offset + text.size()};
}

/// The longest run from `at` that could be a number with an exponent, or a name.
std::string_view run_of(std::string_view text, std::size_t at) {
  const bool number = is_digit(text[at]);
  std::size_t end = at + 1;
  while (end < text.size()) {
    const bool exponent = number && (text[end - 1] == 'e' || text[end - 1] == 'E') &&
                          (text[end] == '+' || text[end] == '-') && end + 1 < text.size() &&
                          is_digit(text[end + 1]);
    if (!continues_name(text[end]) && !exponent) break;
    ++end;
  }
  return text.substr(at, end - at);
}

Token number_token(std::string_view text, std::size_t at) {
  const std::string_view run = run_of(text, at);
  const char* const end = run.data() + run.size();
  Token token = token_of(TokenKind::integer, at, run);
  const auto whole = std::from_chars(run.data(), end, token.integer);
  if (whole.ptr == end) {
    return whole.ec == std::errc() ? token : error(at, "number is too large; integers have 64 bits");
  }
  token.kind = TokenKind::decimal;
  const auto part = std::from_chars(run.data(), end, token.decimal);
  if (part.ptr != end) return error(at, "malformed number; a text that begins with a digit needs quotes");
  return part.ec == std::errc() ? token : error(at, "number is out of the range of decimals");
}

Token name_token(std::string_view text, std::size_t at) {
  const std::string_view run = run_of(text, at);
  for (const Spelling& keyword : keywords) {
    if (run == keyword.text) return token_of(keyword.kind, at, run);
  }
  return token_of(TokenKind::name, at, run);
}

Token text_token(std::string_view text, std::size_t at) {
  const std::size_t close = text.find(text[at], at + 1);
  if (close == text.npos) return error(at, "text without a closing quote");
  Token token = token_of(TokenKind::text, at, text.substr(at + 1, close - at - 1));
  token.next = close + 1;
  return token;
}

}  // namespace

Token next_token(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && is_space(text[at])) ++at;
  if (at >= text.size()) return {.kind = TokenKind::end, .offset = text.size(), .next = at};
  const char first = text[at];
  if (is_digit(first)) return number_token(text, at);
  if (starts_name(first)) return name_token(text, at);
  if (first == '\'' || first == '"') return text_token(text, at);
  for (const Spelling& symbol : operators) {
    if (text.substr(at).starts_with(symbol.text)) return token_of(symbol.kind, at, symbol.text);
  }
  for (const Mistake& mistake : mistakes) {
    if (mistake.character == first) return error(at, mistake.problem);
  }
  return error(at, "unexpected character");
}

}  // namespace quarry::detail
