/// What the bulk tensor copy engine is told of a tensor. Plain constexpr C++, shared by host and device.
#pragma once

#include "quarry/types.hpp"

namespace quarry {

/// How a box lies in shared memory: lines of so many bytes, their 16-byte chunks XORed with the number of the
/// line, as CUtensorMapSwizzle; `none`: line after line.
enum class TensorSwizzle : unsigned char { none, bytes32, bytes64, bytes128 };

/// How a copy walks over the pixels of images (PTX ISA, im2col mode): through a box of each image, column by
/// column, then row by row, then in the next image. Columns come first, then rows. What a copy brings is not
/// the pixels walked over, but those at the same distance from each of them, which the copy says.
struct PixelWalk {
  /// The box's first pixel, counted from the image's first, and its last one, counted from the image's last:
  /// -128 to 127.
  short lower[2];
  short upper[2];
  /// From one pixel to the next: 1 to 8. 0: copies do not walk.
  unsigned char step[2];
};

/// A tensor and the box of it that a copy moves; extents innermost first. A tensor of rank 3 has elements of
/// a line, lines, batch entries. Images, over which copies walk, have rank 4: channels, columns, rows,
/// images. Written by the host, which makes a TensorMap of it.
struct TensorMapFields {
  const void* data;
  DType dtype;
  TensorSwizzle swizzle;
  /// Loads round f32 elements to tf32 on the way to shared memory: to the nearest, ties to even. NaN becomes
  /// 0x7fffe000. (CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, probed on an H100)
  bool rounds_to_tf32 = false;
  /// Elements along each extent, 1 to 2^32; the last one is of images alone.
  unsigned long long extent[4];
  /// Bytes from one line, one batch entry to the next (one column, row, image): multiples of 16 below 2^40.
  unsigned long long stride[3];
  /// Elements of a box along each extent, 1 to 256; the first is a multiple of 16 bytes. Of images: channels,
  /// pixels, 1.
  unsigned box[3];
  PixelWalk walk;

  /// Whether there is a map at all.
  constexpr bool has_box() const { return box[0] != 0; }
  /// Whether its copies walk over pixels.
  constexpr bool walks() const { return walk.step[0] != 0; }
  constexpr int rank() const { return walks() ? 4 : 3; }
};

/// The same as the copy engine reads it: the driver's CUtensorMap (or for the emulator, TensorMapFields).
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

/// A matrix of which a kernel makes a tensor map: lines of elements next to each other.
struct MatrixLines {
  const void* data;      ///< a multiple of 16 bytes
  int elements;          ///< of a line, 1 at least
  int lines;             ///< 1 at least
  long long line_bytes;  ///< from one line to the next, a multiple of 16
};

}  // namespace quarry
