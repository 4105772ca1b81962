/// Text for messages: what somebody typed or another program said, made fit for one line, and lists of names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "basic/nearest.hpp"
#include "basic/read_file.hpp"
#include "basic/text.hpp"

namespace quarry::lab {

using detail::did_you_mean;
using detail::join;
using detail::quoted;
using detail::read_file;

/// The text with blanks for control characters, so that it stays on one line.
std::string one_line(std::string_view text);

/// The same, with `?` for bytes that are not ASCII: for messages of others that quote what a user gave, whole
/// or in part.
std::string one_ascii_line(std::string_view text);

/// The text as one word of a command line, in single quotes, as a POSIX shell reads it.
std::string shell_word(std::string_view text);

/// How many there are of something, for people: "1 entry", "3 entries". @param noun of which there is one
std::string counted(std::size_t count, std::string_view noun);

/// A number with `decimals` digits behind the point; very small and very large ones in scientific notation.
std::string rounded(double value, int decimals);

}  // namespace quarry::lab
