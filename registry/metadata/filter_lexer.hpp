/// The tokens of the filter language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quarry::detail {

enum class TokenKind : std::uint8_t {
  end,
  error,  ///< `problem` says what is wrong
  integer,
  decimal,
  text,  ///< in quotes of either kind
  name,  ///< a field's path or a word
  true_value,
  false_value,
  and_operator,
  or_operator,
  not_operator,
  in,
  has,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  contains,
  plus,
  minus,
  times,
  divide,
  modulo,
  open,
  close,
  comma,
};

struct Token {
  TokenKind kind = TokenKind::end;
  /// Bytes in front of the token.
  std::size_t offset = 0;
  /// The token as written; of a text, what stands between the quotes.
  std::string_view text = {};
  /// Where the next token may begin.
  std::size_t next = 0;
  std::int64_t integer = 0;
  double decimal = 0;
  std::string_view problem = {};
};

/// The first token at or behind byte `from` of the text.
Token next_token(std::string_view text, std::size_t from);

}  // namespace quarry::detail
