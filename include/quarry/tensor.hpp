/// Tensors as the library sees them: a pointer, a type, extents and strides. A view owns nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>

#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// The kind of memory that holds a tensor.
enum class MemoryKind : std::uint8_t {
  automatic,  ///< the library asks the driver about the pointer when it matters; plain host memory if there
              ///< is no driver
  host,       ///< plain host memory: problems on it run on the host executor
  device,     ///< device memory
  managed,    ///< CUDA managed memory: runs on the device
  pinned,     ///< page-locked host memory, readable from the device: runs on the device
};

/// Where a tensor lies: the kind of memory and the CUDA device's ordinal.
struct Memory {
  MemoryKind kind = MemoryKind::automatic;
  int device = 0;
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// A tensor of rank 1 to 4 that somebody else owns. Rank 2 is a matrix (rows, columns). Rank 3 has a batch
/// extent in front of it (or slices, ReduceSplitKArguments). A null `data` makes a *fake* tensor, which works
/// for queries but not for runs.
struct TensorView {
  static constexpr int max_rank = 4;

  /// First element. A view that is passed as `out` is written through this pointer. For an array of pointers:
  /// the array.
  const void* data = nullptr;
  DType dtype = DType::none;
  std::uint8_t rank = 0;
  /// Alignment in bytes that the library assumes for the pointer of a fake tensor, and for all pointers of an
  /// array; a power of two.
  std::uint16_t assumed_alignment = 16;
  Memory memory = {};
  /// `data` is an array of pointers, one for each batch entry of a view of rank 3. The first stride is then
  /// ignored. PointerArrayView makes such views.
  bool is_pointer_array = false;
  /// Rows or columns of each matrix may share elements, as in a sliding window. Otherwise an input
  /// whose leading dimension is less than the extent that it leads over, but not 0, is refused: mostly it is
  /// a mistake. Outputs never overlap.
  bool overlapping = false;
  /// Elements along each extent, outermost first. 0 is legal.
  std::array<std::int64_t, max_rank> extents = {};
  /// Elements between neighbours along each extent; 0 broadcasts (inputs only), negative is refused; see also
  /// `overlapping`.
  std::array<std::int64_t, max_rank> strides = {};
  /// Interleaved: a matrix or a batch of matrices, whose extents are multiples of 32. The stride along the
  /// extent that is cut (rows of row_interleaved32) leads from one group of 32 to the next; the other stride
  /// is 32. Images and filters of four extents: see nc32hw32 and c32rsk32 (conv2d.hpp).
  LayoutTag tag = LayoutTag::strided;

  /// A matrix (or batch of matrices) whose rows are contiguous. `ld` is the elements from one row to the
  /// next, 0 for a packed matrix; a batch is packed at rows * ld. More than four extents make a view that
  /// every call refuses.
  static TensorView row_major(const void* data, DType dtype, std::initializer_list<std::int64_t> extents,
                              std::int64_t ld = 0);

  /// A matrix (or batch of matrices) whose columns are contiguous. `ld` is the elements from one column to
  /// the next.
  static TensorView column_major(const void* data, DType dtype, std::initializer_list<std::int64_t> extents,
                                 std::int64_t ld = 0);

  /// A matrix (or batch of matrices) in groups of 32 rows; see Layout. `ld` is the elements from one group to
  /// the next, 0 for a packed matrix; a batch is packed. Every call refuses a view whose extents are not
  /// multiples of 32, or whose type has no interleaved layout.
  static TensorView row_interleaved32(const void* data, DType dtype,
                                      std::initializer_list<std::int64_t> extents, std::int64_t ld = 0);

  /// The same in groups of 32 columns.
  static TensorView column_interleaved32(const void* data, DType dtype,
                                         std::initializer_list<std::int64_t> extents, std::int64_t ld = 0);

  /// Any strides. @param extents and strides one per dimension, at most four
  static TensorView strided(const void* data, DType dtype, std::span<const std::int64_t> extents,
                            std::span<const std::int64_t> strides);

  /// A contiguous vector, such as a bias.
  static TensorView vector(const void* data, DType dtype, std::int64_t extent);

  /// The same view in memory of a known kind. The library then does not ask the driver.
  TensorView on(Memory where) const {
    TensorView view = *this;
    view.memory = where;
    return view;
  }

  /// The same view with rows or columns that may share elements (`overlapping`).
  TensorView with_overlap() const {
    TensorView view = *this;
    view.overlapping = true;
    return view;
  }

  /// A view of a DLPack tensor (any version's `DLTensor`): byte_offset and null strides are honoured. The
  /// ownership of the tensor does not change. Fails for a rank over four, and for a type or a device that the
  /// library does not know.
  template <class DLTensor>
  static Result<TensorView> from_dlpack(const DLTensor& tensor);
};

namespace detail {
/// The product of extents, or the greatest number where that is too large: no memory has such a stride, so
/// calls refuse it.
constexpr std::int64_t product_of_extents(auto... factors) {
  std::int64_t product = 1;
  bool fits = true;
  ((fits = !__builtin_mul_overflow(product, factors, &product) && fits), ...);
  return fits ? product : std::numeric_limits<std::int64_t>::max();
}

/// The fields of a DLTensor (DLPack 0.x and 1.x), by value, so that no DLPack header is needed here.
struct DlpackFields {
  void* data;
  int device_type;
  int device_id;
  int rank;
  int type_code;
  int type_bits;
  int type_lanes;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::uint64_t byte_offset;
};
Result<TensorView> from_dlpack(const DlpackFields& tensor);
}  // namespace detail

template <class DLTensor>
Result<TensorView> TensorView::from_dlpack(const DLTensor& tensor) {
  return detail::from_dlpack({tensor.data, static_cast<int>(tensor.device.device_type),
                              static_cast<int>(tensor.device.device_id), static_cast<int>(tensor.ndim),
                              static_cast<int>(tensor.dtype.code), static_cast<int>(tensor.dtype.bits),
                              static_cast<int>(tensor.dtype.lanes), tensor.shape, tensor.strides,
                              tensor.byte_offset});
}

/// The name of a type ("f16"), and back.
std::string_view to_string(DType type);
Result<DType> parse_dtype(std::string_view name);
/// "row", "column", "row_interleaved32" or "column_interleaved32"; and back.
std::string_view to_string(Layout layout);
Result<Layout> parse_layout(std::string_view name);
/// "strided", or as a layout.
std::string_view to_string(LayoutTag tag);
/// "gemm", "split_k_serial", ...; and back.
std::string_view to_string(Mode mode);
Result<Mode> parse_mode(std::string_view name);
/// "identity", "relu", ...; and back.
std::string_view to_string(Activation activation);
Result<Activation> parse_activation(std::string_view name);
Result<Math> parse_math(std::string_view name);
/// fast, precise.
Result<Accumulation> parse_accumulation(std::string_view name);
/// "fprop", "dgrad" or "wgrad"; and back.
std::string_view to_string(Direction direction);
Result<Direction> parse_direction(std::string_view name);
/// "simt" or "tensor_core".
std::string_view to_string(Math math);
std::string_view to_string(Accumulation accumulation);
std::string_view to_string(MathUnit unit);
/// "along_n" or "along_m"; and back.
std::string_view to_string(Raster raster);
Result<Raster> parse_raster(std::string_view name);
/// "cooperative", "ping_pong" or "one_tile".
std::string_view to_string(Schedule schedule);
/// "tma" or "cp_async".
std::string_view to_string(CopyEngine engine);
/// "direct" or "exchanged".
std::string_view to_string(Orientation orientation);
/// "analytic", "few_channels", "optimized", "fixed_channels" or "window".
std::string_view to_string(WindowIterator iterator);
/// "any", "unity" or "strided".
std::string_view to_string(WindowStrides strides);
/// "any" or "one".
std::string_view to_string(WindowFilter filter);
/// "none", "vector_scales", "block_scales", "group_scales" or "zero_points".
std::string_view to_string(ScaleSupport support);

}  // namespace quarry
