#include "lab/problems/guarded_tensor.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "common/config_parts.hpp"
#include "lab/problems/matrices.hpp"

namespace quarry::lab {
namespace {

constexpr std::size_t start_alignment = 256;
/// Bytes of poison before and behind the tensor, and the least between matrices of an array.
constexpr std::size_t guard_bytes = 4096;
constexpr std::size_t guard_between = 512;
/// Far above what any test or check needs, and far below where sizes would wrap.
constexpr double most_bytes = 0x1p46;

/// 0xfff5 over and over: a NaN in every floating-point type of 2, 4 and 8 bytes, and not the one that
/// conversions make; of 1 byte it is 0xff. Integers have no such thing: -655,371 in s32, of bytes 0xf5, which
/// is no number that saturation makes; two elements of half a byte have one of these between them.
constexpr unsigned char poison_byte(DType type, std::size_t position) {
  if (unit_bytes(type) == 1) return is_floating(type) ? 0xff : 0xf5;
  return position % 2 == 0 ? 0xf5 : 0xff;
}

bool is_poison(DType type, const std::byte* bytes, std::size_t count, std::size_t position) {
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes[i] != std::byte{poison_byte(type, position + i)}) return false;
  }
  return true;
}

Status written_outside(const std::string& where) {
  return {StatusCode::device_error, "Memory outside the output was written, " + where};
}

}  // namespace

void GuardedTensor::Free::operator()(std::byte* p) const {
  ::operator delete[](p, std::align_val_t{start_alignment});
}

Result<GuardedTensor> GuardedTensor::make(const TensorView& shape) {
  const Matrices m(shape);
  for (std::size_t i = 0; i < shape.rank; ++i) {
    if (shape.extents[i] < 0 || shape.strides[i] < 0) {
      return Status(StatusCode::invalid_arguments, "A tensor with a negative extent or stride has no memory");
    }
  }
  const double guards = (m.is_array() ? static_cast<double>(m.count()) : 1) * guard_bytes;
  if (shape.rank < 1 || shape.rank > TensorView::max_rank || bits_of(shape.dtype) == 0 ||
      memory_bytes(shape) + guards > most_bytes || (m.is_array() && shape.rank != 3)) {
    return Status(StatusCode::invalid_arguments,
                  "A tensor of this rank, type or size cannot be given memory");
  }

  GuardedTensor tensor;
  try {
    tensor.place(shape, static_cast<std::size_t>(bytes_for(shape.dtype, m.span())));
  } catch (const std::exception&) {
    return Status(StatusCode::device_error, "Out of memory for a tensor");
  }
  tensor.storage_.reset(static_cast<std::byte*>(
      ::operator new[](tensor.bytes_, std::align_val_t{start_alignment}, std::nothrow)));
  if (!tensor.storage_) return Status(StatusCode::device_error, "Out of memory for a tensor");
  tensor.make_view(shape);
  tensor.poison();
  return tensor;
}

void GuardedTensor::place(const TensorView& shape, std::size_t span) {
  const std::size_t alignment = shape.assumed_alignment == 0 ? 1 : shape.assumed_alignment;
  const std::size_t phase = alignment % start_alignment;
  const Matrices m(shape);
  offsets_.resize(m.is_array() ? static_cast<std::size_t>(m.count()) : 1);
  pointers_.resize(m.is_array() ? offsets_.size() : 0);
  std::size_t next = guard_bytes;
  for (std::size_t i = offsets_.size(); i-- > 0;) {
    offsets_[i] = next + phase;
    const std::size_t guard = guard_between + i % 3 * start_alignment;
    next = (offsets_[i] + span + guard + start_alignment - 1) / start_alignment * start_alignment;
  }
  bytes_ = (offsets_.empty() ? guard_bytes : offsets_.front() + span) + guard_bytes;
}

void GuardedTensor::make_view(const TensorView& shape) {
  for (std::size_t i = 0; i < pointers_.size(); ++i) pointers_[i] = storage_.get() + offsets_[i];
  // An array without entries is no fake one.
  static constexpr const void* no_pointers[1] = {};
  const void* const array = pointers_.empty() ? no_pointers : pointers_.data();
  view_ = shape;
  view_.data = shape.is_pointer_array ? array : data();
  view_.memory = {MemoryKind::host, 0};
}

void GuardedTensor::poison() {
  // The pattern begins where the elements do, so that each reads as the same NaN. It repeats itself, so that
  // a few bytes of it can be copied.
  std::array<std::byte, guard_bytes> pattern;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = std::byte{poison_byte(view_.dtype, i + offset())};
  for (std::size_t i = 0; i < bytes_; i += pattern.size())
    std::copy_n(pattern.data(), std::min(pattern.size(), bytes_ - i), storage_.get() + i);
}

/// Checks the elements of one matrix of an array, or of all matrices if the tensor is no array, and what lies
/// between them.
Status GuardedTensor::check_matrix(std::size_t piece, bool told_by_poison) const {
  const Matrices m(view_);
  // Elements, or bytes that two of them share.
  const auto element = static_cast<std::size_t>(unit_bytes(m.type()));
  const std::int64_t shared = is_half_byte(m.type()) ? 2 : 1;
  std::vector<bool> inside(static_cast<std::size_t>((m.span() + shared - 1) / shared));
  const std::byte* const first = storage_.get() + offsets_[piece];
  for (std::int64_t matrix = 0; matrix < (m.is_array() ? 1 : m.count()); ++matrix) {
    for (std::int64_t row = 0; row < m.rows(); ++row) {
      for (std::int64_t column = 0; column < m.columns(); ++column) {
        const std::int64_t index = (m.is_array() ? 0 : m.start(matrix)) + m.index(row, column);
        const auto at = static_cast<std::size_t>(index / shared);
        inside[at] = true;
        if (told_by_poison && is_poison(m.type(), first + at * element, element, at * element)) {
          const std::int64_t number = m.is_array() ? static_cast<std::int64_t>(piece) : matrix;
          return {StatusCode::device_error, "Output element (" + std::to_string(number) + ", " +
                                                std::to_string(row) + ", " + std::to_string(column) +
                                                ") was not written"};
        }
      }
    }
  }
  for (std::size_t at = 0; at < inside.size(); ++at) {
    if (!inside[at] && !is_poison(m.type(), first + at * element, element, at * element)) {
      return written_outside("between its elements, " + std::to_string(at) + " elements from its start");
    }
  }
  return {};
}

Status GuardedTensor::check(bool elements_poisoned) const {
  const Matrices m(view_);
  const auto span = static_cast<std::size_t>(bytes_for(m.type(), m.span()));
  const bool told_by_poison = elements_poisoned && !is_integer(m.type());
  std::size_t end = 0;  // of what has been checked
  for (std::size_t piece = offsets_.size(); piece-- > 0;) {
    try {
      if (Status s = check_matrix(piece, told_by_poison); !s) return s;
    } catch (const std::exception&) {
      return {StatusCode::device_error, "Out of memory for the check of a tensor"};
    }
    const std::size_t begin = offsets_[piece];
    if (!is_poison(m.type(), storage_.get() + end, begin - end, offset() + end))
      return written_outside("before its start");
    end = begin + span;
  }
  if (!is_poison(m.type(), storage_.get() + end, bytes_ - end, offset() + end))
    return written_outside("behind its end");
  return {};
}

}  // namespace quarry::lab
