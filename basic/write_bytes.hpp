/// Writing to files, for everything that must notice a full disk.
#pragma once

#include <cstddef>
#include <span>

namespace quarry::detail {

/// Writes all bytes where the next write of an open file goes: at its end, for files that are new or opened
/// for appending. Returns 0, or an errno with a part of the bytes written. EFBIG, with none written, where
/// the file would be longer than the process may make it (RLIMIT_FSIZE): such a write would be a signal that
/// ends the process.
int write_bytes(int file, std::span<const std::byte> bytes);

}  // namespace quarry::detail
