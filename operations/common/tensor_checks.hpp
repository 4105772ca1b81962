/// Facts about one tensor view: whether it is well formed, what memory it covers, how it can be read.
#pragma once

#include <cstdint>
#include <string>

#include "gemm/problem.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {

/// An invalid_arguments Status with a message of its own.
Status invalid(std::string message);

/// Whether no extent is 0.
bool has_elements(const TensorView& view);

/// Whether a tensor of rank 4 with channels in groups of 32 lies as images do, (N, C/32, H, W, 32), packed
/// except for N; as filters do, (C/32, R, S, K, 32), packed. Some lie as both. @pre extents and strides are
/// not negative
bool has_image_order(const TensorView& view);
bool has_filter_order(const TensorView& view);

/// Whether neighbours along each extent that has any lie as far apart as in another view of these extents.
bool lies_as(const TensorView& view, const TensorView& other);

/// An interleaved view as a strided one of the same elements, in whatever order; any other view as it is.
/// @pre check_tensor(view)
TensorView unfolded(const TensorView& view);

/// The bytes that a view covers, from its first to behind its last element, as addresses; of an array of
/// pointers, the bytes of the array itself. Empty for a view without elements and for a fake tensor.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// @pre check_tensor(view)
ByteRange byte_range(const TensorView& view);

/// Whether two views may share a byte. Exact about views that lie side by side in one matrix (contiguous
/// spans that repeat at the same distance, such as two groups of columns), by their address ranges otherwise:
/// views that interleave in other ways count as overlapping.
bool may_overlap(const TensorView& one, const TensorView& other);

/// Checks a view by itself: it has a type, a rank from `least_rank` to `most_rank`, extents from 0 to 2^31 -
/// 1, strides of 0 or more, an extent in bytes that 63 bits can count, and a pointer that is a multiple of an
/// element. An interleaved one is a matrix or a batch of them, of a type that is interleaved, with extents
/// that are multiples of 32, and its groups do not overlap.
/// An array of pointers has rank 3, promises of its pointers a power of two that an element divides,
/// and starts at a multiple of a pointer.
Status check_tensor(const TensorView& view, Operand name, int least_rank, int most_rank);

/// Checks where an array of pointers starts.
Status check_array_address(Operand name, const void* pointers);

/// The refusal of an operand that does not lie where the first one of the problem does.
Status lies_elsewhere(Operand name, Operand first);

/// Says which operand is at fault where not all lie together: mostly an array of pointers that was left in
/// host memory.
class Placing {
 public:
  /// @param first of the problem's operands, beside which the others must lie
  explicit Placing(Operand first) : first_(first) {}
  /// An operand that lies with those before it.
  void note(const TensorView& view, MemoryKind kind, Operand name);
  /// Why one that does not is refused.
  Status elsewhere(const TensorView& view, MemoryKind kind, Operand name) const;

 private:
  Operand first_;
  bool only_arrays_ = true;  ///< of what lies in host memory
  Operand host_array_ = Operand::none;
};

/// Checks that no two elements of an output share an address: from the smallest stride on, each is greater
/// than the reach of all smaller ones. (That refuses strides that interleave without touching, too; nobody
/// writes such outputs.) Strides of extents of 0 and 1, and of a view without elements, do not count.
Status check_output_strides(const TensorView& view, Operand name = Operand::out);

/// Checks that no two rows and no two columns of an input's matrices share an element, unless the view says
/// that it is `overlapping`: an overlap is mostly a mistake in the leading dimension. A stride of 0
/// broadcasts.
/// @pre check_tensor(view)
Status check_input_strides(const TensorView& view, Operand name);

/// Bytes, up to 16, that the pointers of a view are multiples of, or are assumed to be: a power of two.
unsigned aligned_bytes(const TensorView& view);

/// How a matrix operand is walked and as which layouts it can be read. @pre check_tensor(view), of rank 2 or
/// 3
ProblemOperand problem_operand(const TensorView& view);

}  // namespace quarry::detail
