#include "registry/host/reorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "common/config_parts.hpp"
#include "operations/common/host/matrix.hpp"
#include "operations/common/host/parallel.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::host {
namespace {

using detail::Reason;

constexpr auto invalid_arguments = StatusCode::invalid_arguments;

bool is_reordered(DType type) { return takes_integer_sums(type); }

Status check_no_array(const TensorView& view, Operand name) {
  if (!view.is_pointer_array) return {};
  return detail::invalid("Operand `" + std::string(to_string(name)) +
                         "` is an array of pointers, which a reorder does not take");
}

Status check_extents(const TensorView& from, const TensorView& to) {
  constexpr Reason reasons[] = {Reason::columns, Reason::rows, Reason::batch};
  for (std::size_t i = 0; i < to.rank; ++i) {
    const std::size_t extent = to.rank - 1U - i;
    if (from.extents[extent] != to.extents[extent])
      return {invalid_arguments, reasons[i], Operand::from, to.extents[extent], from.extents[extent]};
  }
  return {};
}

/// The strides of one of them as lines along which its elements lie together.
ReorderSide side_of(const TensorView& view) {
  const Matrix m(view);
  const bool interleaved = view.tag != LayoutTag::strided;
  const bool by_rows = interleaved ? m.columns_grouped : m.column_stride <= m.row_stride;
  return {.data = m.data,
          .line_stride = by_rows ? m.row_stride : m.column_stride,
          .element_stride = by_rows ? m.column_stride : m.row_stride,
          .batch_stride = m.batch_stride,
          .lines_are_rows = by_rows,
          .interleaved = interleaved};
}

/// Copies a square of at most `interleave` rows and columns.
template <std::size_t bytes>
void copy_square(const Matrix& from, const Matrix& to, std::int64_t entry, std::int64_t first_row,
                 std::int64_t first_column) {
  const std::int64_t last_row = std::min<std::int64_t>(first_row + interleave, to.rows);
  const std::int64_t last_column = std::min<std::int64_t>(first_column + interleave, to.columns);
  for (std::int64_t row = first_row; row < last_row; ++row) {
    for (std::int64_t column = first_column; column < last_column; ++column) {
      const auto at = [&](const Matrix& m) {
        return m.index(entry, row, column) * static_cast<std::int64_t>(bytes);
      };
      std::memcpy(static_cast<std::byte*>(const_cast<void*>(to.data)) + at(to),
                  static_cast<const std::byte*>(from.data) + at(from), bytes);
    }
  }
}

}  // namespace

Status check_reorder(const TensorView& from, const TensorView& to) {
  if (Status s = detail::check_tensor(to, Operand::to, 2, 3); !s) return s;
  if (Status s = detail::check_tensor(from, Operand::from, to.rank, to.rank); !s) return s;
  if (Status s = check_no_array(to, Operand::to); !s) return s;
  if (Status s = check_no_array(from, Operand::from); !s) return s;
  if (!is_reordered(to.dtype)) {
    return detail::invalid("Matrices of s8, u8, s32 and f32 are reordered, and not those of " +
                           std::string(to_string(to.dtype)));
  }
  if (from.dtype != to.dtype) {
    return {invalid_arguments, Reason::dtype, Operand::from, static_cast<int>(to.dtype),
            static_cast<int>(from.dtype)};
  }
  if (Status s = check_extents(from, to); !s) return s;
  if (Status s = detail::check_output_strides(to, Operand::to); !s) return s;
  if (detail::may_overlap(from, to)) return detail::invalid("Operand `from` overlaps `to`");
  return {};
}

ReorderParams reorder_params(const TensorView& from, const TensorView& to) {
  const Matrix m(to);
  return {.from = side_of(from),
          .to = side_of(to),
          .rows = static_cast<int>(m.rows),
          .columns = static_cast<int>(m.columns),
          .batch = static_cast<int>(m.batch)};
}

void reorder(const TensorView& from, const TensorView& to) {
  constexpr std::int64_t least_elements_for_threads = 1 << 20;
  const Matrix source(from);
  const Matrix target(to);
  const std::int64_t strips = (target.rows + interleave - 1) / interleave;
  const bool is_small = target.rows * target.columns < least_elements_for_threads;
  parallel_for(target.batch * strips, is_small ? 1 : default_threads(), [&](int, std::int64_t i) {
    for (std::int64_t column = 0; column < target.columns; column += interleave) {
      const auto copy = bytes_of(target.type) == 1 ? copy_square<1> : copy_square<4>;
      copy(source, target, i / strips, i % strips * interleave, column);
    }
  });
}

}  // namespace quarry::host
