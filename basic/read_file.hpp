/// Reading what a user names: files of any length, of which some never end.
#pragma once

#include <cstddef>
#include <string>

#include "quarry/status.hpp"

namespace quarry::detail {

/// Text files that users write are shorter than this.
inline constexpr std::size_t most_text_bytes = std::size_t{64} << 20;

/// Files that programs write, a line after each piece of work, are shorter than this.
inline constexpr std::size_t most_record_bytes = std::size_t{1} << 30;

/// All bytes of a file, pipe or device. Fails with parse_error where it cannot be read, and where it has more
/// than `most` bytes, of which no more are read. The message does not name the path: "cannot read it: ...".
Result<std::string> read_file(const std::string& path, std::size_t most = most_text_bytes);

/// The same of an open file, from where it stands to its end.
Result<std::string> read_file(int file, std::size_t most = most_text_bytes);

}  // namespace quarry::detail
