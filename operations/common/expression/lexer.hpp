/// The tokens of an expression's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quarry::detail {

enum class SymbolKind : std::uint8_t {
  end,
  error,  ///< `problem` says what is wrong
  number,
  name,
  operation,  ///< an operator, of which `text` is the spelling in the table of functions
  assign,
  open,
  close,
  open_index,   ///< `[`
  close_index,  ///< `]`
  comma,
  semicolon,
};

struct Symbol {
  SymbolKind kind = SymbolKind::end;
  /// Bytes in front of it.
  std::size_t offset = 0;
  std::string_view text = {};
  /// Where the next one may begin.
  std::size_t next = 0;
  double number = 0;
  std::string_view problem = {};
};

/// The first token at or behind byte `from` of the text.
Symbol next_symbol(std::string_view text, std::size_t from);

/// Whether a text is a name: a letter or `_`, then letters, digits and `_`, at most 64 of them, and no word
/// of the language.
bool is_tensor_name(std::string_view text);

}  // namespace quarry::detail
