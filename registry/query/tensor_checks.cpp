#include "registry/query/tensor_checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

namespace quarry::detail {
namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;

constexpr int64_t extent_limit = std::numeric_limits<std::int32_t>::max();
constexpr unsigned widest_copy = 16;  // bytes

std::string quoted_operand(Operand name) { return "Operand `" + std::string(to_string(name)) + "`"; }

/// The address by which alignment is judged: that of the data, or one that is aligned as a fake tensor is
/// assumed to be.
uint64_t address_of(const TensorView& view) {
  return view.data != nullptr ? reinterpret_cast<std::uintptr_t>(view.data) : view.assumed_alignment;
}

/// Elements from the first to the last; nothing where 63 bits cannot count the view's bytes.
/// @pre extents and strides are not negative
bool reach(const TensorView& view, int64_t& elements) {
  elements = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    int64_t along = 0;
    if (view.extents[i] == 0) continue;
    if (__builtin_mul_overflow(view.extents[i] - 1, view.strides[i], &along)) return false;
    if (__builtin_add_overflow(elements, along, &elements)) return false;
  }
  return elements < std::numeric_limits<int64_t>::max() / bytes_of(view.dtype);
}

bool has_elements(const TensorView& view) {
  return std::find(view.extents.begin(), view.extents.begin() + view.rank, 0) ==
         view.extents.begin() + view.rank;
}

/// Bytes that repeat at a distance: a contiguous span, and all other strides multiples of the distance.
struct Spans {
  uint64_t width = 0;
  uint64_t distance = 0;
};

/// How the elements of a view are spans of the given distance; nothing where they are not.
bool as_spans(const TensorView& view, uint64_t distance, Spans& spans) {
  const auto element = static_cast<uint64_t>(bytes_of(view.dtype));
  spans = {element, distance};
  for (size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] <= 1) continue;
    const uint64_t stride = static_cast<uint64_t>(view.strides[i]) * element;
    if (stride % distance == 0) continue;
    if (view.strides[i] != 1 || spans.width != element) return false;
    spans.width = static_cast<uint64_t>(view.extents[i]) * element;
  }
  return spans.width <= distance;
}

/// The least stride that is not that of a contiguous extent, in bytes; 0 where there is none.
uint64_t leading_stride(const TensorView& view) {
  int64_t least = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] <= 1 || view.strides[i] <= 1) continue;
    if (least == 0 || view.strides[i] < least) least = view.strides[i];
  }
  return static_cast<uint64_t>(least) * static_cast<uint64_t>(bytes_of(view.dtype));
}

/// Whether both views are spans of one distance, and those of one fall between those of the other.
bool side_by_side(const TensorView& one, const TensorView& other) {
  const uint64_t distance = leading_stride(one);
  Spans a;
  Spans b;
  if (distance == 0 || !as_spans(one, distance, a) || !as_spans(other, distance, b)) return false;
  // From the start of a span of one to the next start of a span of the other.
  const uint64_t offset = (address_of(other) % distance + distance - address_of(one) % distance) % distance;
  return offset >= a.width && offset + b.width <= distance;
}

/// Greatest power of two of elements, up to a copy's worth, that address, leading stride and batch stride are
/// multiples of.
std::uint8_t alignment(const TensorView& view, size_t contiguous, size_t leading) {
  if (view.extents[contiguous] > 1 && view.strides[contiguous] != 1) return 0;
  const auto element = static_cast<unsigned>(bytes_of(view.dtype));
  uint64_t bits = address_of(view) | widest_copy;
  if (view.extents[leading] > 1) bits |= static_cast<uint64_t>(view.strides[leading]) * element;
  if (view.rank == 3 && view.extents[0] > 1) bits |= static_cast<uint64_t>(view.strides[0]) * element;
  return static_cast<std::uint8_t>((1U << std::countr_zero(bits)) / element);
}

}  // namespace

Status invalid(std::string message) { return {StatusCode::invalid_arguments, std::move(message)}; }

ByteRange byte_range(const TensorView& view) {
  if (view.data == nullptr || !has_elements(view)) return {};
  int64_t elements = 0;
  if (!reach(view, elements)) return {};
  const uint64_t begin = address_of(view);
  const uint64_t bytes = static_cast<uint64_t>(elements + 1) * static_cast<uint64_t>(bytes_of(view.dtype));
  return {begin, begin + bytes};
}

bool may_overlap(const TensorView& one, const TensorView& other) {
  const ByteRange a = byte_range(one);
  const ByteRange b = byte_range(other);
  if (a.begin >= b.end || b.begin >= a.end) return false;
  return !side_by_side(one, other) && !side_by_side(other, one);
}

Status check_tensor(const TensorView& view, Operand name, int least_rank, int most_rank) {
  constexpr auto code = StatusCode::invalid_arguments;
  if (view.rank == 0 && view.dtype == DType::none) return {code, Reason::missing, name};
  if (bytes_of(view.dtype) == 0) return invalid(quoted_operand(name) + " has no data type");
  if (view.rank < least_rank || view.rank > most_rank) {
    return {code, Reason::rank, name, view.rank < least_rank ? least_rank : most_rank, view.rank};
  }
  for (size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] < 0) return {code, Reason::negative_extent, name, 0, view.extents[i]};
    if (view.extents[i] > extent_limit)
      return {code, Reason::extent_limit, name, extent_limit, view.extents[i]};
    if (view.strides[i] < 0) return {code, Reason::negative_stride, name, 0, view.strides[i]};
  }
  int64_t elements = 0;
  if (!reach(view, elements))
    return invalid(quoted_operand(name) + " spans more bytes than an address can count");
  if (view.data == nullptr && !std::has_single_bit(view.assumed_alignment)) {
    return invalid(quoted_operand(name) + " assumes an alignment of " +
                   std::to_string(view.assumed_alignment) + " bytes, which is no power of two");
  }
  if (address_of(view) % static_cast<unsigned>(bytes_of(view.dtype)) != 0) {
    return invalid(quoted_operand(name) + " is misaligned: its pointer is not a multiple of the " +
                   std::to_string(bytes_of(view.dtype)) + " bytes of " + std::string(to_string(view.dtype)));
  }
  return {};
}

Status check_output_strides(const TensorView& view, Operand name) {
  if (!has_elements(view)) return {};
  std::array<size_t, TensorView::max_rank> order = {};
  size_t count = 0;
  for (size_t i = 0; i < view.rank; ++i) {  // insertion sort by stride
    if (view.extents[i] <= 1) continue;
    size_t at = count++;
    for (; at > 0 && view.strides[order[at - 1]] > view.strides[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t reached = 0;  // elements that all smaller strides reach
  for (size_t i = 0; i < count; ++i) {
    const int64_t stride = view.strides[order[i]];
    if (stride <= reached) {
      return {StatusCode::invalid_arguments, Reason::overlapping_stride, name, reached + 1, stride};
    }
    reached += (view.extents[order[i]] - 1) * stride;
  }
  return {};
}

ProblemOperand problem_operand(const TensorView& view) {
  const size_t rows = view.rank - 2U;
  const size_t columns = view.rank - 1U;
  const bool batched = view.rank == 3 && view.extents[0] > 1;
  ProblemOperand operand;
  operand.matrix = {view.data, view.strides[rows], view.strides[columns], batched ? view.strides[0] : 0};
  bool row = view.extents[columns] <= 1 || view.strides[columns] == 1;
  bool column = view.extents[rows] <= 1 || view.strides[rows] == 1;
  if (!row && !column) {
    row = view.strides[columns] <= view.strides[rows];
    column = !row;
  }
  operand.fits[static_cast<int>(Layout::row)] = row;
  operand.fits[static_cast<int>(Layout::column)] = column;
  operand.alignment[static_cast<int>(Layout::row)] = alignment(view, columns, rows);
  operand.alignment[static_cast<int>(Layout::column)] = alignment(view, rows, columns);
  return operand;
}

}  // namespace quarry::detail
