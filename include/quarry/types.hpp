/// The words that host and device code share: element types, layouts, activations, modes.
///
/// Device code includes this file too, so it needs no other header, neither standard nor CUDA.
#pragma once

namespace quarry {

/// Element type of a tensor, an accumulator or a scalar.
enum class DType : unsigned char { none, f16, bf16, f32, f64, s8, u8, s32 };

/// Bytes of one element; 0 for `none`.
constexpr int bytes_of(DType type) {
  switch (type) {
    case DType::none: return 0;
    case DType::s8:
    case DType::u8: return 1;
    case DType::f16:
    case DType::bf16: return 2;
    case DType::f32:
    case DType::s32: return 4;
    case DType::f64: return 8;
  }
  return 0;
}

/// Rows or columns that an interleaved layout keeps together.
inline constexpr int interleave = 32;

/// Which extent of a matrix is contiguous in memory: `row` keeps the elements of a row next to each other.
///
/// The interleaved ones, of bytes and of what their products become, cut one extent into groups of 32, whose
/// elements lie next to each other; both extents are multiples of 32. With `ld` elements from one group to
/// the next, element (r, c) lies at
///   row_interleaved32:    r / 32 * ld + c * 32 + r % 32, packed where ld is columns * 32
///   column_interleaved32: c / 32 * ld + r * 32 + c % 32, packed where ld is rows * 32
enum class Layout : unsigned char { row, column, row_interleaved32, column_interleaved32 };

/// How many there are.
inline constexpr int layout_count = 4;

/// The layout of the transposed matrix over the same memory.
constexpr Layout transposed(Layout layout) {
  switch (layout) {
    case Layout::row: return Layout::column;
    case Layout::column: return Layout::row;
    case Layout::row_interleaved32: return Layout::column_interleaved32;
    case Layout::column_interleaved32: return Layout::row_interleaved32;
  }
  return layout;
}

constexpr bool is_interleaved(Layout layout) {
  return layout == Layout::row_interleaved32 || layout == Layout::column_interleaved32;
}

/// Whether neighbours in a row are neighbours in memory (up to 32 of them, where it is interleaved);
/// otherwise those in a column are.
constexpr bool has_contiguous_rows(Layout layout) {
  return layout == Layout::row || layout == Layout::column_interleaved32;
}

/// What a tensor says of its layout: that its strides say it, or that it is an interleaved one.
enum class LayoutTag : unsigned char { strided, row_interleaved32, column_interleaved32 };

/// The layout of a tag that is not `strided`.
constexpr Layout layout_of(LayoutTag tag) {
  return tag == LayoutTag::row_interleaved32 ? Layout::row_interleaved32 : Layout::column_interleaved32;
}

/// How a GEMM covers its K extent. Batched problems go with any mode.
enum class Mode : unsigned char {
  gemm,              ///< one block computes an output tile over all of K
  split_k_serial,    ///< blocks of a tile add their slices of K one after another, the last one finishes
  split_k_parallel,  ///< slices are written to the workspace, a reduction kernel adds and finishes them
  split_k_cluster,   ///< slices of a tile run as one cluster, which adds them up through shared memory
  stream_k,          ///< the K tiles of all output tiles are shared evenly among persistent blocks
};

/// Along which extent of the output blocks walk first.
enum class Raster : unsigned char {
  along_n,  ///< tiles that are neighbours along N run at the same time, in groups of `swizzle` columns
  along_m,  ///< the same with M and N exchanged
};

/// How the blocks of a kernel share its tiles.
enum class Schedule : unsigned char {
  cooperative,  ///< persistent blocks; all warpgroups of a block multiply one tile
  ping_pong,  ///< persistent blocks; each warpgroup multiplies a tile of its own, while the other one stores
  one_tile,   ///< a block for each tile
  stream_k,   ///< persistent blocks that share the K tiles of all output tiles evenly
};

/// What moves operands to shared memory.
enum class CopyEngine : unsigned char {
  tma,       ///< the bulk tensor copy engine; lines must be multiples of 16 bytes
  cp_async,  ///< copies by threads
};

/// Which operand goes to the rows of the matrix instruction.
enum class Orientation : unsigned char {
  direct,     ///< A: a tile's M is a multiple of 64
  exchanged,  ///< B, that is, the transposed problem: a tile's N is a multiple of 64, its M of 8
};

/// Function applied last in the epilogue. `gelu` is exact (erf), `gelu_tanh` its usual approximation.
enum class Activation : unsigned char {
  identity,
  relu,
  leaky_relu,
  tanh,
  sigmoid,
  silu,
  hardswish,
  gelu,
  gelu_tanh,
};

/// Along which extent of the output a vector, a bias or a scale, lies.
enum class BiasAxis : unsigned char {
  row,     ///< one value for each row: M values
  column,  ///< one value for each column: N values
};

/// What a kernel may do to f32 operands before it multiplies them, to be faster. Sums are f32 all the same.
enum class Math : unsigned char {
  exact,      ///< nothing
  fast_tf32,  ///< rounded to 11 significant bits (tf32)
  fast_f32,  ///< split into two such numbers, three products (3xTF32): about as exact as f32. Infinities give
             ///< NaN
  fast_f16,  ///< rounded to f16, whose largest number is 65504
  fast_bf16,  ///< rounded to bf16
};

/// The functional unit that multiplies.
enum class MathUnit : unsigned char { simt, tensor_core };

}  // namespace quarry
