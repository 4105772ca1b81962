/// Text for messages: what a user typed, quoted safely, and lists of names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry::detail {

/// The text between backquotes, fit for one line of a message: control characters and bytes that are not
/// UTF-8 become `?`, and a long text is cut ("...").
std::string quoted(std::string_view text);

/// The names, quoted: "`a`, `b` or `c`" with "or" as `last`.
std::string join(std::span<const std::string_view> names, std::string_view last);

/// An error in a text, in three lines: `what`, the text (or its part around the fault, when it is long), and
/// a caret under the character at byte `offset` (the text's size: behind its end). Lines up with tabs and any
/// UTF-8 in the text.
Status error_at(StatusCode code, std::string_view what, std::string_view text, std::size_t offset);

/// The same in one line: `what`, the offset, and what stands there: "expected a value, at byte 12: `]}`".
Status error_in_line(StatusCode code, std::string_view what, std::string_view text, std::size_t offset);

/// The text as a terminal can take it: control characters but newlines, and bytes that are not UTF-8, become
/// `?`.
std::string printable(std::string_view text);

}  // namespace quarry::detail
