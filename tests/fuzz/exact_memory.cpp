#include "fuzz/exact_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

namespace quarry::fuzz {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 16;
constexpr std::size_t most_entries = 32;

int rank_of(const TensorView& view) { return std::min<int>(view.rank, TensorView::max_rank); }

/// The place behind the last element, in elements; nothing where an extent or a stride is negative. As a
/// double, so that nothing overflows.
std::optional<double> reach(const TensorView& view) {
  double last = 0;
  bool empty = false;
  const int rank = rank_of(view);
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto extent = static_cast<double>(view.extents[at]);
    const auto stride = static_cast<double>(view.strides[at]);
    if (extent < 0 || stride < 0) return std::nullopt;
    const bool by_rows = view.tag == LayoutTag::row_interleaved32;
    const bool by_columns = view.tag == LayoutTag::column_interleaved32;
    // Of the extent that is cut, the stride leads from group to group, within which elements are neighbours.
    const bool is_cut = (by_rows && i == rank - 2) || (by_columns && i == rank - 1);
    last += is_cut ? (static_cast<double>(view.extents[at] / interleave) - 1) * stride + interleave - 1
                   : (extent - 1) * stride;
    empty = empty || extent == 0;
  }
  return empty || last < 0 ? 0 : last + 1;
}

/// Bytes that a view covers.
std::optional<std::size_t> covered(const TensorView& view) {
  const std::optional<double> end = reach(view);
  if (!end) return std::nullopt;
  return static_cast<std::size_t>(std::min<double>((*end * bits_of(view.dtype) + 7) / 8, most_bytes + 1));
}

}  // namespace

double elements(const TensorView& view) {
  double count = 1;
  for (int i = 0; i < rank_of(view); ++i)
    count *= std::max<double>(0, static_cast<double>(view.extents[static_cast<std::size_t>(i)]));
  return count;
}

std::byte* ExactMemory::bytes(std::size_t count, std::size_t shift) {
  held_.emplace_back(new std::byte[count + shift]);
  std::byte* const first = held_.back().get() + shift;
  for (std::size_t i = 0; i < count; ++i) first[i] = static_cast<std::byte>(seed_ * 31 + i * 7);
  return first;
}

void ExactMemory::give(TensorView& view) {
  if (view.is_pointer_array && view.rank == 3) return give_array(view);
  const std::optional<std::size_t> count = covered(view);
  view.data = count.value_or(0) > most_bytes ? nullptr
                                             : bytes(count.value_or(0), seed_ % 4 == 1 ? seed_ / 4 % 16 : 0);
}

void ExactMemory::write(const TensorView& view, std::span<const std::byte> bytes) {
  if (view.data == nullptr || view.is_pointer_array) return;
  const std::size_t count = std::min(covered(view).value_or(0), bytes.size());
  std::copy_n(bytes.begin(), count, static_cast<std::byte*>(const_cast<void*>(view.data)));
}

void ExactMemory::give_array(TensorView& view) {
  view.data = nullptr;
  TensorView matrix = view;
  matrix.is_pointer_array = false;
  matrix.rank = 2;
  matrix.extents = {view.extents[1], view.extents[2]};
  matrix.strides = {view.strides[1], view.strides[2]};
  const std::optional<std::size_t> count = covered(matrix);
  const std::int64_t entries = view.extents[0];
  if (entries < 0 || entries > static_cast<std::int64_t>(most_entries) || count.value_or(0) > most_bytes)
    return;
  arrays_.emplace_back(new const void*[static_cast<std::size_t>(entries)]);
  const void** const pointers = arrays_.back().get();
  for (std::int64_t i = 0; i < entries; ++i)
    pointers[i] = bytes(count.value_or(0), seed_ % 8 == 1 ? static_cast<std::size_t>(i) : 0);
  view.data = pointers;
}

void ExactMemory::give(Scalar& scalar, DType type) {
  const auto size = static_cast<std::size_t>(std::max(bytes_of(type), 1));
  scalar.pointer = std::memset(bytes(size, 0), 0, size);
}

Workspace ExactMemory::workspace(std::size_t count) {
  constexpr auto aligned = std::align_val_t{256};
  if (count == 0 || count > most_bytes) return {};
  const std::shared_ptr<void> made(::operator new(count, aligned),
                                   [](void* memory) { ::operator delete(memory, aligned); });
  workspaces_.push_back(made);
  return {made.get(), count};
}

}  // namespace quarry::fuzz
