#include "operations/common/expression/lexer.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace quarry::detail {
namespace {

constexpr std::size_t max_name_bytes = 64;

struct Sign {
  std::string_view text;
  SymbolKind kind;
  /// What the table of functions calls it.
  std::string_view meaning;
};

/// Longer ones first, so that `<=` is not read as `<`.
constexpr Sign signs[] = {
    {"&&", SymbolKind::operation, "and"}, {"||", SymbolKind::operation, "or"},
    {"==", SymbolKind::operation, "=="},  {"!=", SymbolKind::operation, "!="},
    {"<=", SymbolKind::operation, "<="},  {">=", SymbolKind::operation, ">="},
    {"<", SymbolKind::operation, "<"},    {">", SymbolKind::operation, ">"},
    {"!", SymbolKind::operation, "not"},  {"+", SymbolKind::operation, "+"},
    {"-", SymbolKind::operation, "-"},    {"*", SymbolKind::operation, "*"},
    {"/", SymbolKind::operation, "/"},    {"=", SymbolKind::assign, "="},
    {"(", SymbolKind::open, "("},         {")", SymbolKind::close, ")"},
    {"[", SymbolKind::open_index, "["},   {"]", SymbolKind::close_index, "]"},
    {",", SymbolKind::comma, ","},        {";", SymbolKind::semicolon, ";"},
};

/// What people write who think of another language.
constexpr struct {
  std::string_view text;
  std::string_view problem;
} mistakes[] = {
    {"&", "`&` is no operator; did you mean `and`?"},
    {"|", "`|` is no operator; did you mean `or`?"},
    {"^", "`^` is no operator; write a power as a product"},
    {"**", "`**` is no operator; write a power as a product"},
    {"?", "`?` is no operator; write select(condition, a, b)"},
    {"%", "`%` is no operator of expressions"},
};

constexpr std::string_view word_operators[] = {"and", "or", "not"};
constexpr std::string_view reserved[] = {"and", "or", "not", "sum", "inf", "nan"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

Symbol error(std::size_t offset, std::string_view problem) {
  Symbol symbol = {.kind = SymbolKind::error, .offset = offset, .next = offset};
  symbol.problem = problem;
  return symbol;
}

/// The longest run from `at` that could be a number with a fraction and an exponent.
std::string_view number_run(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size()) {
    const bool sign =
        (text[end] == '+' || text[end] == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!continues_name(text[end]) && text[end] != '.' && !sign) break;
    ++end;
  }
  return text.substr(at, end - at);
}

Symbol number_symbol(std::string_view text, std::size_t at) {
  const std::string_view run = number_run(text, at);
  Symbol symbol = {.kind = SymbolKind::number, .offset = at, .text = run, .next = at + run.size()};
  const auto read = std::from_chars(run.data(), run.data() + run.size(), symbol.number);
  if (read.ptr != run.data() + run.size()) return error(at, "malformed number");
  return read.ec == std::errc() ? symbol : error(at, "number is out of the range of float64");
}

Symbol name_symbol(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && continues_name(text[end])) ++end;
  Symbol symbol = {.kind = SymbolKind::name, .offset = at, .text = text.substr(at, end - at), .next = end};
  if (symbol.text.size() > max_name_bytes)
    return error(at, "name is too long; expected at most 64 characters");
  if (is_one_of(symbol.text, word_operators)) symbol.kind = SymbolKind::operation;
  const bool infinite = symbol.text == "inf";
  if (!infinite && symbol.text != "nan") return symbol;
  symbol.kind = SymbolKind::number;
  symbol.number =
      infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return symbol;
}

}  // namespace

Symbol next_symbol(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && is_space(text[at])) ++at;
  if (at >= text.size()) return {.kind = SymbolKind::end, .offset = text.size(), .next = at};
  const std::string_view rest = text.substr(at);
  if (is_digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1])))
    return number_symbol(text, at);
  if (starts_name(rest[0])) return name_symbol(text, at);
  const bool power = rest.starts_with("**");
  for (const Sign& sign : signs) {
    if (rest.starts_with(sign.text) && !power) {
      return {.kind = sign.kind, .offset = at, .text = sign.meaning, .next = at + sign.text.size()};
    }
  }
  for (const auto& mistake : mistakes) {
    if (rest.starts_with(mistake.text)) return error(at, mistake.problem);
  }
  return error(at, "unexpected character");
}

bool is_tensor_name(std::string_view text) {
  if (text.empty() || text.size() > max_name_bytes || !starts_name(text[0])) return false;
  return std::all_of(text.begin(), text.end(), continues_name) && !is_one_of(text, reserved);
}

}  // namespace quarry::detail
