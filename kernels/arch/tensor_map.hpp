/// What the bulk tensor copy engine is told of a tensor. Plain constexpr C++, shared by host and device.
#pragma once

#include "quarry/types.hpp"

namespace quarry {

/// How a box lies in shared memory: lines of so many bytes, their 16-byte chunks XORed with the number of the
/// line, as CUtensorMapSwizzle; `none`: line after line.
enum class TensorSwizzle : unsigned char { none, bytes32, bytes64, bytes128 };

/// A tensor of rank 3 and the box of it that a copy moves; extents innermost first: along a line, lines,
/// batch entries. Written by the host, which makes a TensorMap of it.
struct TensorMapFields {
  const void* data;
  DType dtype;
  TensorSwizzle swizzle;
  /// Elements along each extent, 1 to 2^32.
  unsigned long long extent[3];
  /// Bytes from one line, one batch entry to the next: multiples of 16 below 2^40.
  unsigned long long stride[2];
  /// Elements of a box along each extent, 1 to 256; the first is a multiple of 16 bytes.
  unsigned box[3];

  /// Whether there is a map at all.
  constexpr bool has_box() const { return box[0] != 0; }
};

/// The same as the copy engine reads it: the driver's CUtensorMap (or for the emulator, TensorMapFields).
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

}  // namespace quarry
