/// The words that host and device code share: element types, layouts, activations, modes.
///
/// Device code includes this file too, so it needs no other header, neither standard nor CUDA.
#pragma once

namespace quarry {

/// Element type of a tensor, an accumulator or a scalar. The order is fixed: keys, caches and files hold
/// these numbers. `type_table` says what each type is.
enum class DType : unsigned char { none, f16, bf16, f32, f64, s8, u8, s32, e4m3, e5m2, s4, u4 };

/// The class of the values of an element type.
enum class TypeClass : unsigned char { none, floating, signed_integer, unsigned_integer };

/// Stands for the number of a type that another library does not have.
inline constexpr int no_code = -1;

/// The properties of an element type.
struct TypeInfo {
  DType type;
  const char* name;
  TypeClass kind;
  /// Bits of an element in memory. Elements of 4 bits share a byte: the even one has the lower half.
  int bits;
  /// Significant bits of a floating-point number, the implicit one included; 0 for other classes.
  int significand_bits;
  /// The smallest positive number.
  double smallest;
  /// The greatest finite number.
  double largest;
  /// DLDataTypeCode of dlpack.h.
  int dlpack_code;
  /// CUtensorMapDataType of cuda.h. The bulk copy engine moves 8-bit types as UINT8.
  int tensor_map_type;
  /// cudaDataType_t of library_types.h.
  int cuda_type;
};

/// Number of types, including `none`.
inline constexpr int dtype_count = static_cast<int>(DType::u4) + 1;

/// A row for each type.
struct TypeTable {
  TypeInfo rows[dtype_count];
};

/// The element types, by enumerator. Everything that depends on a type follows from its row.
// clang-format off
constexpr TypeTable type_table() {
  return {{
    // bits, significand bits, smallest, largest; DLPack, tensor map, cudaDataType_t
    {DType::none, "none", TypeClass::none,              0,  0, 0,         0,                       no_code, no_code, no_code},
    {DType::f16,  "f16",  TypeClass::floating,         16, 11, 0x1p-24,   65504,                    2, 6,  2},
    {DType::bf16, "bf16", TypeClass::floating,         16,  8, 0x1p-133,  0x1.fep127,               4, 9, 14},
    {DType::f32,  "f32",  TypeClass::floating,         32, 24, 0x1p-149,  0x1.fffffep127,           2, 7,  0},
    {DType::f64,  "f64",  TypeClass::floating,         64, 53, 0x1p-1074, 0x1.fffffffffffffp1023,   2, 8,  1},
    {DType::s8,   "s8",   TypeClass::signed_integer,    8,  0, 1,         127,                      0, 0,  3},
    {DType::u8,   "u8",   TypeClass::unsigned_integer,  8,  0, 1,         255,                      1, 0,  8},
    {DType::s32,  "s32",  TypeClass::signed_integer,   32,  0, 1,         2147483647,               0, 3, 10},
    {DType::e4m3, "e4m3", TypeClass::floating,          8,  4, 0x1p-9,    448,                     10, 0, 28},
    {DType::e5m2, "e5m2", TypeClass::floating,          8,  3, 0x1p-16,   57344,                   12, 0, 29},
    {DType::s4,   "s4",   TypeClass::signed_integer,    4,  0, 1,         7,                        0, no_code, 16},
    {DType::u4,   "u4",   TypeClass::unsigned_integer,  4,  0, 1,         15,                       1, no_code, 18},
  }};
}
// clang-format on

#ifdef __CUDACC_RTC__
/// The row of a type. Code that is compiled at run time would contain a constant table, so it computes rows
/// while it is compiled.
constexpr TypeInfo info_of(DType type) { return type_table().rows[static_cast<int>(type)]; }
#else
/// The table, for host code.
inline constexpr TypeTable element_types = type_table();

/// The row of a type; the row of `none` for a number that is not a type.
constexpr const TypeInfo& info_of(DType type) {
  const int row = static_cast<int>(type);
  return element_types.rows[row < dtype_count ? row : 0];
}
#endif

/// Bits of one element; 0 for `none`.
constexpr int bits_of(DType type) { return info_of(type).bits; }

/// Bytes of one element; 0 for `none` and for types whose elements are not whole bytes.
constexpr int bytes_of(DType type) { return bits_of(type) / 8; }

/// Bytes of the smallest addressable piece of memory that holds whole elements; 0 for `none`.
constexpr int unit_bytes(DType type) { return (bits_of(type) + 7) / 8; }

/// Bytes of `elements` neighbouring elements, rounded up to whole bytes. @pre elements >= 0, and their bytes
/// fit in 63 bits
constexpr long long bytes_for(DType type, long long elements) {
  const int bytes = bytes_of(type);
  return bytes > 0 ? elements * bytes : elements / 8 * bits_of(type) + (elements % 8 * bits_of(type) + 7) / 8;
}

/// Whether elements of this type are floating-point numbers.
constexpr bool is_floating(DType type) { return info_of(type).kind == TypeClass::floating; }

/// Whether elements of this type are whole numbers.
constexpr bool is_integer(DType type) {
  const TypeClass kind = info_of(type).kind;
  return kind == TypeClass::signed_integer || kind == TypeClass::unsigned_integer;
}

/// Whether elements of this type are whole numbers of 0 or more.
constexpr bool is_unsigned(DType type) { return info_of(type).kind == TypeClass::unsigned_integer; }

/// The least finite number of a type.
constexpr double lowest_of(DType type) {
  const TypeInfo info = info_of(type);
  if (info.kind == TypeClass::floating) return -info.largest;
  return info.kind == TypeClass::signed_integer ? -info.largest - 1 : 0;
}

/// Whether numbers that are too large for a type become its greatest finite number; otherwise they become
/// infinity.
constexpr bool saturates(DType type) { return is_integer(type) || bits_of(type) == 8; }

/// Half a unit in the last place of a number near 1: the greatest relative error of rounding to this type; 0
/// for types that are not floating-point.
constexpr double unit_roundoff(DType type) {
  const int bits = info_of(type).significand_bits;
  return bits == 0 ? 0 : 1 / static_cast<double>(1LL << bits);
}

/// Whether elements of this type are whole numbers of one byte. One instruction multiplies four of them.
constexpr bool is_byte(DType type) { return is_integer(type) && bits_of(type) == 8; }

/// Whether elements are whole numbers of half a byte.
constexpr bool is_half_byte(DType type) { return bits_of(type) == 4; }

/// Whether elements of this type are floating-point numbers of 16 bits.
constexpr bool is_half(DType type) { return is_floating(type) && bits_of(type) == 16; }

/// Whether elements are floating-point numbers of 8 bits: e4m3 or e5m2.
constexpr bool is_fp8(DType type) { return is_floating(type) && bits_of(type) == 8; }

/// Rows or columns that an interleaved layout keeps together.
inline constexpr int interleave = 32;

/// Which extent of a matrix is contiguous in memory: `row` keeps the elements of a row next to each other.
///
/// The interleaved layouts (for s8, u8, s32 and f32) cut one extent into groups of 32, whose elements are
/// neighbours in memory. Both extents must be multiples of 32. With `ld` elements from one group to the next,
/// element (r, c) lies at
///   row_interleaved32:    r / 32 * ld + c * 32 + r % 32, packed where ld is columns * 32
///   column_interleaved32: c / 32 * ld + r * 32 + c % 32, packed where ld is rows * 32
enum class Layout : unsigned char { row, column, row_interleaved32, column_interleaved32 };

/// Number of layouts.
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

/// The layout of a tensor: given by its strides, or interleaved.
enum class LayoutTag : unsigned char { strided, row_interleaved32, column_interleaved32 };

/// The layout of a tag that is not `strided`.
constexpr Layout layout_of(LayoutTag tag) {
  return tag == LayoutTag::row_interleaved32 ? Layout::row_interleaved32 : Layout::column_interleaved32;
}

/// How a GEMM covers its K extent. A batch works with every mode.
enum class Mode : unsigned char {
  gemm,              ///< one block computes an output tile over all of K
  split_k_serial,    ///< blocks of a tile add their slices of K one after another, the last one finishes
  split_k_parallel,  ///< slices are written to the workspace, a reduction kernel adds and finishes them
  split_k_cluster,   ///< slices of a tile run as one cluster, which adds them up through shared memory
  stream_k,          ///< the K tiles of all output tiles are shared evenly among persistent blocks
};

/// The extent of the output along which blocks walk first.
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

/// The operand that goes to the rows of the matrix instruction.
enum class Orientation : unsigned char {
  direct,     ///< A: a tile's M is a multiple of 64
  exchanged,  ///< B, that is, the transposed problem: a tile's N is a multiple of 64, its M of 8
};

/// How a kernel finds the elements that windows look at.
enum class WindowIterator : unsigned char {
  analytic,        ///< from the indices of each piece, whatever the problem
  few_channels,    ///< fprop, element by element: from tap and channel of the element before
  optimized,       ///< from the tile before; the channels of a group are whole K tiles
  fixed_channels,  ///< fprop; the channels of a group are one piece: exactly 2, 4 or 8
  window,          ///< fprop of small filters, and wgrad; the pixels of all windows of a tile come at once
};

/// Which strides of windows a kernel takes.
enum class WindowStrides : unsigned char {
  any,      ///< all; dgrad multiplies zeros for taps that a stride leaves out
  unity,    ///< 1
  strided,  ///< up to 8; dgrad multiplies what contributes alone
};

/// Which filters a kernel takes.
enum class WindowFilter : unsigned char {
  any,
  one,  ///< 1x1 without padding
};

/// Which scales of A and B a kernel takes.
enum class ScaleSupport : unsigned char {
  none,
  vector_scales,  ///< one value, one for each row of A, one for each column of B
  block_scales,   ///< these, and one for every 128 positions of K
  group_scales,   ///< these, and one for every 32 or 64 positions of K
  zero_points,    ///< the same, and zero points of unsigned weights beside them
};

/// Whether it takes a scale for every 32 or 64 positions of K.
constexpr bool takes_groups(ScaleSupport scales) { return scales >= ScaleSupport::group_scales; }

/// Whether it takes scales that change along K.
constexpr bool takes_blocks(ScaleSupport scales) { return scales >= ScaleSupport::block_scales; }

/// Function of the epilogue, applied before residual and clamp. `gelu` is exact (erf), `gelu_tanh` its usual
/// approximation.
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

/// The extent of the output along which a vector (bias or scale) lies.
enum class BiasAxis : unsigned char {
  row,     ///< one value for each row: M values
  column,  ///< one value for each column: N values
};

/// How a kernel may round f32 operands before it multiplies them, for speed. Sums are always f32.
enum class Math : unsigned char {
  exact,      ///< nothing
  fast_tf32,  ///< rounded to 11 significant bits (tf32)
  fast_f32,  ///< split into two such numbers, three products (3xTF32): about as exact as f32. Infinities give
             ///< NaN
  fast_f16,  ///< rounded to f16, whose largest number is 65504
  fast_bf16,  ///< rounded to bf16
};

/// Where products of 8-bit floating-point operands (e4m3, e5m2) are added up. Sums of other types do not
/// depend on it.
enum class Accumulation : unsigned char {
  fast,     ///< in the matrix instruction, which keeps about 14 significant bits (docs/math.md)
  precise,  ///< in f32 outside the instruction, every 128 of K
};

/// What a convolution computes: its output, or a gradient.
enum class Direction : unsigned char {
  fprop,  ///< the output, of activations and filters
  dgrad,  ///< the gradient of the activations, from the output's gradient and filters
  wgrad,  ///< the gradient of the filters, from the output's gradient and activations
};

/// The functional unit that multiplies.
enum class MathUnit : unsigned char { simt, tensor_core };

}  // namespace quarry
