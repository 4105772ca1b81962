#include "registry/host/guarded_tensor.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include "common/config_parts.hpp"
#include "registry/host/matrix.hpp"

namespace quarry::host {
namespace {

constexpr std::size_t start_alignment = 256;
/// Bytes of poison before and behind the tensor.
constexpr std::size_t guard_bytes = 4096;
/// Far above what any test or check needs, and far below where sizes would wrap.
constexpr double most_bytes = 0x1p46;

/// 0xfff5 over and over: a NaN in every floating-point type of 2, 4 and 8 bytes, and not the one that
/// conversions make. Integers have no such thing: -655,371 in s32, of bytes 0xf5, which is no number that
/// saturation makes.
constexpr unsigned char poison_byte(DType type, std::size_t position) {
  return position % 2 == 0 || bytes_of(type) == 1 ? 0xf5 : 0xff;
}

/// The bytes from the first element to the end of the last, in floating point, where nothing wraps.
double span_bytes(const Matrix& m) {
  if (m.batch == 0 || m.rows == 0 || m.columns == 0) return 0;
  const auto reach = [](std::int64_t extent, std::int64_t stride, bool grouped) {
    const std::int64_t last = grouped ? (extent - 1) / interleave : extent - 1;
    return static_cast<double>(last) * static_cast<double>(stride) + (grouped ? interleave - 1 : 0);
  };
  return (reach(m.batch, m.batch_stride, false) + reach(m.rows, m.row_stride, m.rows_grouped) +
          reach(m.columns, m.column_stride, m.columns_grouped) + 1) *
         bytes_of(m.type);
}

bool is_poison(DType type, const std::byte* bytes, std::size_t count, std::size_t position) {
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes[i] != std::byte{poison_byte(type, position + i)}) return false;
  }
  return true;
}

}  // namespace

void GuardedTensor::Free::operator()(std::byte* p) const {
  ::operator delete[](p, std::align_val_t{start_alignment});
}

Result<GuardedTensor> GuardedTensor::make(const TensorView& shape) {
  const Matrix m(shape);
  const double span = span_bytes(m);
  for (std::size_t i = 0; i < shape.rank; ++i) {
    if (shape.extents[i] < 0 || shape.strides[i] < 0) {
      return Status(StatusCode::invalid_arguments, "A tensor with a negative extent or stride has no memory");
    }
  }
  if (shape.rank < 1 || shape.rank > 3 || bytes_of(shape.dtype) == 0 || span > most_bytes) {
    return Status(StatusCode::invalid_arguments,
                  "A tensor of this rank, type or size cannot be given memory");
  }

  GuardedTensor tensor;
  const std::size_t alignment = shape.assumed_alignment == 0 ? 1 : shape.assumed_alignment;
  tensor.offset_ = guard_bytes + alignment % start_alignment;
  tensor.bytes_ = tensor.offset_ + static_cast<std::size_t>(span) + guard_bytes;
  tensor.storage_.reset(static_cast<std::byte*>(
      ::operator new[](tensor.bytes_, std::align_val_t{start_alignment}, std::nothrow)));
  if (!tensor.storage_) return Status(StatusCode::device_error, "Out of memory for a tensor");
  tensor.view_ = shape;
  tensor.view_.data = tensor.data();
  tensor.view_.memory = {MemoryKind::host, 0};
  tensor.poison();
  return tensor;
}

void GuardedTensor::poison() {
  // The pattern's phase is that of the elements, so that each reads as the same NaN.
  for (std::size_t i = 0; i < bytes_; ++i) storage_[i] = std::byte{poison_byte(view_.dtype, i + offset_)};
}

Status GuardedTensor::check(bool elements_poisoned) const {
  const Matrix m(view_);
  const auto element = static_cast<std::size_t>(bytes_of(m.type));
  std::vector<bool> inside;
  try {
    inside.resize(static_cast<std::size_t>(m.span()));
  } catch (const std::exception&) {
    return {StatusCode::device_error, "Out of memory for the check of a tensor"};
  }
  const std::byte* const first = storage_.get() + offset_;
  const bool told_by_poison = elements_poisoned && !is_integer(m.type);
  for (std::int64_t entry = 0; entry < m.batch; ++entry) {
    for (std::int64_t row = 0; row < m.rows; ++row) {
      for (std::int64_t column = 0; column < m.columns; ++column) {
        const auto at = static_cast<std::size_t>(m.index(entry, row, column));
        inside[at] = true;
        if (told_by_poison && is_poison(m.type, first + at * element, element, at * element)) {
          return {StatusCode::device_error, "Output element (" + std::to_string(entry) + ", " +
                                                std::to_string(row) + ", " + std::to_string(column) +
                                                ") was not written"};
        }
      }
    }
  }
  const auto written_outside = [](const std::string& where) {
    return Status(StatusCode::device_error, "Memory outside the output was written, " + where);
  };
  for (std::size_t at = 0; at < inside.size(); ++at) {
    if (!inside[at] && !is_poison(m.type, first + at * element, element, at * element)) {
      return written_outside("between its elements, " + std::to_string(at) + " elements from its start");
    }
  }
  if (!is_poison(m.type, storage_.get(), offset_, offset_)) return written_outside("before its start");
  const std::size_t end = offset_ + inside.size() * element;
  if (!is_poison(m.type, storage_.get() + end, bytes_ - end, offset_ + end))
    return written_outside("behind its end");
  return {};
}

}  // namespace quarry::host
