#include "operations/common/tensor_checks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace quarry::detail {
namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;

constexpr int64_t extent_limit = std::numeric_limits<std::int32_t>::max();
constexpr unsigned widest_copy = 16;  // bytes
constexpr unsigned pointer_bytes = sizeof(void*);
static_assert(pointer_bytes == 8);

/// unit_bytes, a power of two: what is divided by it in every check of every operand needs no division.
unsigned unit_size(DType type) { return static_cast<unsigned>(unit_bytes(type)); }
int log2_bits(DType type) { return std::countr_zero(static_cast<unsigned>(bits_of(type))); }
static_assert(std::ranges::all_of(type_table().rows,
                                  [](const TypeInfo& type) { return (type.bits & (type.bits - 1)) == 0; }));

/// std::has_single_bit without a call: it counts bits, for which the least processors have no instruction.
bool is_power_of_two(unsigned number) { return number != 0 && (number & (number - 1)) == 0; }

std::string quoted_operand(Operand name) { return "Operand `" + std::string(to_string(name)) + "`"; }

/// The address by which alignment is judged: the data's, or one that is aligned as a fake tensor is
/// assumed to be.
uint64_t address_of(const TensorView& view) {
  return view.data != nullptr ? reinterpret_cast<std::uintptr_t>(view.data) : view.assumed_alignment;
}

/// What the pointers of all its matrices are multiples of: the address of the first one, or what is promised
/// of those in an array.
uint64_t alignment_address(const TensorView& view) {
  return view.is_pointer_array ? view.assumed_alignment : address_of(view);
}

/// The first extent whose stride counts: a batch has none in an array of pointers.
size_t first_strided(const TensorView& view) { return view.is_pointer_array ? 1 : 0; }

/// Elements from the first to the last, of one matrix where there is an array of them; nothing where 63 bits
/// cannot count the view's bytes.
/// @pre extents and strides are not negative
bool reach(const TensorView& view, int64_t& elements) {
  elements = 0;
  for (size_t i = first_strided(view); i < view.rank; ++i) {
    int64_t along = 0;
    if (view.extents[i] == 0) continue;
    if (__builtin_mul_overflow(view.extents[i] - 1, view.strides[i], &along)) return false;
    if (__builtin_add_overflow(elements, along, &elements)) return false;
  }
  return elements < std::numeric_limits<int64_t>::max() >> std::countr_zero(unit_size(view.dtype));
}

/// With no stride longer than that, all extents keep to what `reach` can count.
constexpr int64_t short_stride = (int64_t{1} << 26) - 1;
static_assert(extent_limit <= std::numeric_limits<int64_t>::max() / 16 / TensorView::max_rank / short_stride);

/// Bytes that repeat at a distance: a contiguous span, and all other strides multiples of the distance.
struct Spans {
  uint64_t width = 0;
  uint64_t distance = 0;
};

/// Bytes of so many elements that lie next to each other.
uint64_t bytes_for(const TensorView& view, int64_t elements) {
  return static_cast<uint64_t>(quarry::bytes_for(view.dtype, elements));
}

/// How the elements of a view are spans of the given distance; nothing where they are not.
bool as_spans(const TensorView& view, uint64_t distance, Spans& spans) {
  const uint64_t element = bytes_for(view, 1);
  spans = {element, distance};
  for (size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] <= 1) continue;
    const uint64_t stride = bytes_for(view, view.strides[i]);
    if (stride % distance == 0) continue;
    if (view.strides[i] != 1 || spans.width != element) return false;
    spans.width = bytes_for(view, view.extents[i]);
  }
  return spans.width <= distance;
}

/// The least stride of an extent that is not contiguous, in bytes; 0 if the view has no such stride.
uint64_t leading_stride(const TensorView& view) {
  int64_t least = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] <= 1 || view.strides[i] <= 1) continue;
    if (least == 0 || view.strides[i] < least) least = view.strides[i];
  }
  return bytes_for(view, least);
}

/// Whether both views are spans of one distance, and one's spans fall between the other's.
bool side_by_side(const TensorView& one, const TensorView& other) {
  if (one.is_pointer_array || other.is_pointer_array) return false;
  const uint64_t distance = leading_stride(one);
  Spans a;
  Spans b;
  if (distance == 0 || !as_spans(one, distance, a) || !as_spans(other, distance, b)) return false;
  // From the start of a span of one to the next start of a span of the other.
  const uint64_t offset = (address_of(other) % distance + distance - address_of(one) % distance) % distance;
  return offset >= a.width && offset + b.width <= distance;
}

/// Greatest power of two of elements, up to a copy's worth, that address, leading stride and batch stride are
/// multiples of. @param lines how many there are along the leading extent
std::uint8_t alignment(const TensorView& view, size_t leading, int64_t lines) {
  uint64_t bits = alignment_address(view) | widest_copy;
  if (lines > 1) bits |= bytes_for(view, view.strides[leading]);
  const bool has_batch_stride = view.rank == 3 && view.extents[0] > 1 && !view.is_pointer_array;
  if (has_batch_stride) bits |= bytes_for(view, view.strides[0]);
  return static_cast<std::uint8_t>((8U << std::countr_zero(bits)) >> log2_bits(view.dtype));
}

/// The same of a strided view whose `contiguous` extent has to be that.
std::uint8_t alignment_of_lines(const TensorView& view, size_t contiguous, size_t leading) {
  if (view.extents[contiguous] > 1 && view.strides[contiguous] != 1) return 0;
  return alignment(view, leading, view.extents[leading]);
}

/// "Operand `a` is row_interleaved32, ": how a refusal begins.
std::string interleaved_operand(const TensorView& view, Operand name) {
  return quoted_operand(name) + " is " + std::string(to_string(view.tag)) + ", ";
}

/// Types that are interleaved: bytes, and what their products become in an output.
bool may_interleave(DType type, Operand name) {
  const bool is_input = name == Operand::a || name == Operand::b;
  return is_input ? is_byte(type) : takes_integer_sums(type);
}

/// Checks that lines of elements which share bytes begin at whole bytes.
/// @pre extents and strides are not negative
[[gnu::noinline]] Status check_shared_bytes(const TensorView& view, Operand name) {
  bool has_contiguous = false;
  for (size_t i = first_strided(view); i < view.rank; ++i) {
    if (view.extents[i] <= 1 || view.strides[i] % 2 == 0) continue;
    if (view.strides[i] == 1 && !has_contiguous) {
      has_contiguous = true;
      continue;
    }
    return invalid(quoted_operand(name) + " is of " + std::string(to_string(view.dtype)) +
                   ", two of which share a byte: strides must be even, but one that is 1; got " +
                   std::to_string(view.strides[i]));
  }
  return {};
}

/// Checks what column_interleaved32 promises of a tensor of rank 4, which has its groups of channels packed.
Status check_channel_groups(const TensorView& view, Operand name) {
  if (view.extents[3] % interleave != 0)
    return {StatusCode::invalid_arguments, Reason::interleaved_extent, name, interleave, view.extents[3]};
  if (has_image_order(view) || has_filter_order(view)) return {};
  return invalid(interleaved_operand(view, name) +
                 "but its strides fit neither images (N, C/32, H, W, 32; packed except for N) nor filters "
                 "(C/32, R, S, K, 32; packed)");
}

/// Checks what a layout tag promises, of extents and strides that are not negative.
[[gnu::noinline]] Status check_interleaving(const TensorView& view, Operand name) {
  constexpr auto code = StatusCode::invalid_arguments;
  if (view.tag == LayoutTag::strided) return {};
  if (view.tag > LayoutTag::column_interleaved32) {
    return invalid(quoted_operand(name) + " has a layout tag of number " +
                   std::to_string(static_cast<int>(view.tag)) + ", which there is not");
  }
  const bool has_channels = view.rank == 4 && view.tag == LayoutTag::column_interleaved32;
  if (view.rank < 2 || (view.rank > 3 && !has_channels))
    return invalid(interleaved_operand(view, name) + "which only a matrix or a batch of them can be");
  if (!may_interleave(view.dtype, name)) {
    return invalid(interleaved_operand(view, name) +
                   "which is for operands of s8 and u8 and outputs of s8, u8, " +
                   "s32 and f32, and not for " + std::string(to_string(view.dtype)));
  }
  if (has_channels) return check_channel_groups(view, name);
  const bool by_rows = view.tag == LayoutTag::row_interleaved32;
  const size_t grouped = view.rank - (by_rows ? 2U : 1U);
  const size_t other = view.rank - (by_rows ? 1U : 2U);
  for (const size_t extent : {view.rank - 2U, view.rank - 1U}) {
    if (view.extents[extent] % interleave != 0)
      return {code, Reason::interleaved_extent, name, interleave, view.extents[extent]};
  }
  if (view.strides[other] != interleave) {
    return invalid(interleaved_operand(view, name) + "whose " + (by_rows ? "columns" : "rows") +
                   " are 32 elements apart, and not " + std::to_string(view.strides[other]));
  }
  const int64_t packed = view.extents[other] * interleave;
  if (view.extents[grouped] > interleave && view.strides[grouped] < packed)
    return {code, Reason::overlapping_stride, name, packed, view.strides[grouped]};
  return {};
}

/// Checks what an array of pointers is, and what it promises.
[[gnu::noinline]] Status check_array(const TensorView& view, Operand name) {
  if (view.rank != 3) return {StatusCode::invalid_arguments, Reason::rank, name, 3, view.rank};
  if (view.tag != LayoutTag::strided) {
    return invalid(quoted_operand(name) +
                   " is an array of pointers to interleaved matrices, which no kernel takes");
  }
  const unsigned promised = view.assumed_alignment;
  const auto element = static_cast<unsigned>(unit_bytes(view.dtype));
  if (!std::has_single_bit(promised)) {
    return invalid(quoted_operand(name) + " promises an alignment of " + std::to_string(promised) +
                   " bytes of its pointers, which is no power of two");
  }
  if (promised < element) {
    return invalid(quoted_operand(name) + " promises an alignment of " + std::to_string(promised) +
                   " bytes of its pointers, less than the " + std::to_string(element) + " of " +
                   std::string(to_string(view.dtype)));
  }
  return check_array_address(name, view.data);
}

/// Whether elements of a strided output lie at different places.
Status check_no_overlap(const TensorView& view, Operand name) {
  if (!has_elements(view)) return {};
  std::array<size_t, TensorView::max_rank> order = {};
  size_t count = 0;
  for (size_t i = first_strided(view); i < view.rank; ++i) {  // insertion sort by stride
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

// Messages are composed out of the way of those who have nothing to say.

[[gnu::noinline, gnu::cold]] Status no_type(Operand name) {
  return invalid(quoted_operand(name) + " has no data type");
}

[[gnu::noinline, gnu::cold]] Status too_long(Operand name) {
  return invalid(quoted_operand(name) + " spans more bytes than an address can count");
}

/// @param is_fake it assumes an alignment that there is not; otherwise its address is misaligned
[[gnu::noinline, gnu::cold]] Status bad_address(const TensorView& view, Operand name, bool is_fake) {
  if (is_fake)
    return invalid(quoted_operand(name) + " assumes an alignment of " +
                   std::to_string(view.assumed_alignment) + " bytes, which is no power of two");
  return invalid(quoted_operand(name) + " is misaligned: its pointer is not a multiple of the " +
                 std::to_string(unit_bytes(view.dtype)) + " bytes of " + std::string(to_string(view.dtype)));
}

}  // namespace

namespace {

int64_t at_least_1(int64_t extent) { return std::max<int64_t>(extent, 1); }

/// Whether groups of 32 channels are packed, in each of which an element along the third extent is so many
/// behind the one before. @param step 32 or more
bool has_packed_groups(const TensorView& view, int64_t step) {
  const auto& e = view.extents;
  const auto has = [&](size_t i, int64_t least, int64_t stride) {
    return e[i] <= least || view.strides[i] == stride;
  };
  const int64_t row = at_least_1(e[2]) * step;
  return has(2, 1, step) && has(1, 1, row) && has(3, interleave, at_least_1(e[1]) * row);
}

/// Whether a tensor of rank 4 has channels in groups of 32, and products of its extents can be counted.
bool has_channel_groups(const TensorView& view) {
  constexpr double most_elements = 1e17;
  if (view.rank != 4 || view.tag != LayoutTag::column_interleaved32) return false;
  double elements = 1;
  for (const int64_t extent : view.extents) elements *= static_cast<double>(at_least_1(extent));
  return elements <= most_elements;
}

/// The same as unfolded, of a tensor of rank 4, whose pixels or filters lie in one piece.
TensorView unfolded_channels(const TensorView& view) {
  const auto& e = view.extents;
  TensorView result = view;
  result.tag = LayoutTag::strided;
  const int64_t pixels = e[1] * e[2] * interleave;
  const int64_t groups = e[3] / interleave;
  if (has_image_order(view)) {
    result.rank = 3;
    result.extents = {e[0], groups, pixels};
    result.strides = {view.strides[0], pixels, 1};
  } else {
    result.rank = 1;
    result.extents = {e[0] * pixels * groups};
    result.strides = {1};
  }
  return result;
}

}  // namespace

bool lies_as(const TensorView& view, const TensorView& other) {
  for (std::size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] > 1 && view.strides[i] != other.strides[i]) return false;
  }
  return true;
}

bool has_image_order(const TensorView& view) {
  if (!has_channel_groups(view) || !has_packed_groups(view, interleave)) return false;
  const auto& e = view.extents;
  return e[0] <= 1 || view.strides[0] >= e[1] * e[2] * e[3];
}

bool has_filter_order(const TensorView& view) {
  if (!has_channel_groups(view)) return false;
  const int64_t filters = at_least_1(view.extents[0]);
  return has_packed_groups(view, filters * interleave) && (filters == 1 || view.strides[0] == interleave);
}

TensorView unfolded(const TensorView& view) {
  if (view.tag == LayoutTag::strided) return view;
  if (view.rank == 4) return unfolded_channels(view);
  const size_t first = view.rank - 2U;
  const bool by_rows = view.tag == LayoutTag::row_interleaved32;
  const size_t grouped = by_rows ? first : first + 1;
  const size_t other = by_rows ? first + 1 : first;
  TensorView result = view;
  result.tag = LayoutTag::strided;
  result.rank = static_cast<std::uint8_t>(view.rank + 1);
  result.extents[first] = view.extents[grouped] / interleave;
  result.strides[first] = view.strides[grouped];
  result.extents[first + 1] = view.extents[other];
  result.strides[first + 1] = view.strides[other];
  result.extents[first + 2] = interleave;
  result.strides[first + 2] = 1;
  return result;
}

bool has_elements(const TensorView& view) {
  for (size_t i = 0; i < view.rank; ++i) {
    if (view.extents[i] == 0) return false;
  }
  return true;
}

Status check_array_address(Operand name, const void* pointers) {
  if (reinterpret_cast<std::uintptr_t>(pointers) % pointer_bytes == 0) return {};
  return invalid(quoted_operand(name) + " is misaligned: its array of pointers is not at a multiple of " +
                 std::to_string(pointer_bytes) + " bytes");
}

void Placing::note(const TensorView& view, MemoryKind kind, Operand name) {
  if (kind != MemoryKind::host) return;
  if (!view.is_pointer_array) only_arrays_ = false;
  if (host_array_ == Operand::none) host_array_ = name;
}

Status lies_elsewhere(Operand name, Operand first) {
  const auto beside = static_cast<std::int64_t>(first);
  return {StatusCode::invalid_arguments, Reason::mixed_devices, name, beside, beside};
}

Status Placing::elsewhere(const TensorView& view, MemoryKind kind, Operand name) const {
  constexpr auto code = StatusCode::invalid_arguments;
  const bool host = kind == MemoryKind::host;
  if (host && view.is_pointer_array) return {code, Reason::array_place, name};
  if (!host && only_arrays_ && host_array_ != Operand::none) return {code, Reason::array_place, host_array_};
  return lies_elsewhere(name, first_);
}

Status invalid(std::string message) { return {StatusCode::invalid_arguments, std::move(message)}; }

ByteRange byte_range(const TensorView& view) {
  if (view.data == nullptr || !has_elements(view)) return {};
  if (view.is_pointer_array) {
    const uint64_t first = address_of(view);
    return {first, first + static_cast<uint64_t>(view.extents[0]) * pointer_bytes};
  }
  int64_t elements = 0;
  if (!reach(unfolded(view), elements)) return {};
  const uint64_t begin = address_of(view);
  return {begin, begin + bytes_for(view, elements + 1)};
}

bool may_overlap(const TensorView& one, const TensorView& other) {
  const ByteRange a = byte_range(one);
  const ByteRange b = byte_range(other);
  if (a.begin >= b.end || b.begin >= a.end) return false;
  const TensorView x = unfolded(one);
  const TensorView y = unfolded(other);
  return !side_by_side(x, y) && !side_by_side(y, x);
}

Status check_tensor(const TensorView& view, Operand name, int least_rank, int most_rank) {
  constexpr auto code = StatusCode::invalid_arguments;
  if (view.rank == 0 && view.dtype == DType::none) return {code, Reason::missing, name};
  if (bits_of(view.dtype) == 0) return no_type(name);
  if (view.rank < least_rank || view.rank > most_rank) {
    return {code, Reason::rank, name, view.rank < least_rank ? least_rank : most_rank, view.rank};
  }
  int64_t strides = 0;
  for (size_t i = 0; i < view.rank; ++i) {
    strides |= view.strides[i];
    if (view.extents[i] < 0) return {code, Reason::negative_extent, name, 0, view.extents[i]};
    if (view.extents[i] > extent_limit)
      return {code, Reason::extent_limit, name, extent_limit, view.extents[i]};
    if (view.strides[i] < 0) return {code, Reason::negative_stride, name, 0, view.strides[i]};
  }
  if (view.tag != LayoutTag::strided) {
    if (Status s = check_interleaving(view, name); !s) return s;
  }
  if (bytes_of(view.dtype) == 0) {
    if (Status s = check_shared_bytes(view, name); !s) return s;
  }
  const bool is_strided = view.tag == LayoutTag::strided;
  if (!is_strided || strides > short_stride) {
    int64_t elements = 0;
    if (!(is_strided ? reach(view, elements) : reach(unfolded(view), elements))) return too_long(name);
  }
  if (view.is_pointer_array) return check_array(view, name);
  const bool is_odd_fake = view.data == nullptr && !is_power_of_two(view.assumed_alignment);
  const bool is_misaligned = (address_of(view) & (unit_size(view.dtype) - 1)) != 0;
  if (is_odd_fake || is_misaligned) return bad_address(view, name, is_odd_fake);
  return {};
}

Status check_output_strides(const TensorView& output, Operand name) {
  if (output.tag == LayoutTag::strided) return check_no_overlap(output, name);
  return check_no_overlap(unfolded(output), name);
}

Status check_input_strides(const TensorView& view, Operand name) {
  if (view.overlapping || view.rank < 2 || view.tag != LayoutTag::strided) return {};
  const size_t rows = view.rank - 2U;
  const bool by_rows = view.strides[rows + 1] <= view.strides[rows];
  const size_t along = by_rows ? rows + 1 : rows;
  const size_t across = by_rows ? rows : rows + 1;
  const int64_t length = view.extents[along];
  const int64_t step = view.strides[along];
  const int64_t leading = view.strides[across];
  if (step == 0 || length <= 1 || view.extents[across] <= 1) return {};
  // Positions (i, j) and (i + leading / common, j - step / common) are one place.
  const int64_t common = step == 1 ? 1 : std::gcd(step, leading);
  if (leading / common >= length || step / common >= view.extents[across]) return {};
  return {StatusCode::invalid_arguments, Reason::overlapping_input, name, length * step, leading};
}

unsigned aligned_bytes(const TensorView& view) {
  return 1U << std::countr_zero(alignment_address(view) | widest_copy);
}

ProblemOperand problem_operand(const TensorView& view) {
  const size_t rows = view.rank - 2U;
  const size_t columns = view.rank - 1U;
  const bool batched = view.rank == 3 && view.extents[0] > 1;
  ProblemOperand operand;
  operand.matrix = {view.data, view.strides[rows], view.strides[columns], batched ? view.strides[0] : 0};
  if (view.is_pointer_array) operand.matrix.batch_stride = pointer_array_stride;
  operand.pointer_bytes = static_cast<std::uint8_t>(aligned_bytes(view));
  if (view.tag != LayoutTag::strided) {
    const auto layout = static_cast<size_t>(layout_of(view.tag));
    const size_t grouped = view.tag == LayoutTag::row_interleaved32 ? rows : columns;
    operand.fits[layout] = true;
    operand.alignment[layout] = alignment(view, grouped, view.extents[grouped] / interleave);
    return operand;
  }
  bool row = view.extents[columns] <= 1 || view.strides[columns] == 1;
  bool column = view.extents[rows] <= 1 || view.strides[rows] == 1;
  if (!row && !column) {
    row = view.strides[columns] <= view.strides[rows];
    column = !row;
  }
  operand.fits[static_cast<int>(Layout::row)] = row;
  operand.fits[static_cast<int>(Layout::column)] = column;
  operand.alignment[static_cast<int>(Layout::row)] = alignment_of_lines(view, columns, rows);
  operand.alignment[static_cast<int>(Layout::column)] = alignment_of_lines(view, rows, columns);
  return operand;
}

}  // namespace quarry::detail
