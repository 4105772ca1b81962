#include "operations/reorder/executor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/interleaved.hpp"
#include "operations/common/host/parallel.hpp"
#include "quarry/tensor.hpp"

namespace quarry::host {
namespace {

/// Below so many elements of a matrix, starting threads costs more than it gains.
constexpr std::int64_t least_elements_for_threads = 1 << 20;

/// A square of at most `interleave` rows and columns.
struct Square {
  std::int64_t batch;
  std::int64_t first_row;
  std::int64_t first_column;
};

std::int64_t index_of(const ReorderSide& side, std::int64_t batch, std::int64_t row, std::int64_t column) {
  const std::int64_t line = side.lines_are_rows ? row : column;
  const std::int64_t element = side.lines_are_rows ? column : row;
  return batch * side.batch_stride + line * side.line_stride +
         distance(side.interleaved, element, side.element_stride);
}

template <std::size_t bytes>
void copy(const ReorderParams& p, const Square& square) {
  const auto* const from = static_cast<const std::byte*>(p.from.data);
  auto* const to = static_cast<std::byte*>(const_cast<void*>(p.to.data));
  const std::int64_t last_row = std::min<std::int64_t>(square.first_row + interleave, p.rows);
  const std::int64_t last_column = std::min<std::int64_t>(square.first_column + interleave, p.columns);
  for (std::int64_t row = square.first_row; row < last_row; ++row) {
    for (std::int64_t column = square.first_column; column < last_column; ++column) {
      const auto at = [&](const ReorderSide& side) {
        return index_of(side, square.batch, row, column) * static_cast<std::int64_t>(bytes);
      };
      std::memcpy(to + at(p.to), from + at(p.from), bytes);
    }
  }
}

/// The copy function for elements of `bytes` bytes; null if that size is not supported.
auto copy_of(int bytes) {
  return bytes == 1 ? copy<1> : bytes == 2 ? copy<2> : bytes == 4 ? copy<4> : bytes == 8 ? copy<8> : nullptr;
}

}  // namespace

Status execute(const KernelMetadata& kernel, const ReorderParams& p, int threads) {
  const DType type = kernel.operands.out.dtype;
  const auto copy_square = copy_of(bytes_of(type));
  if (copy_square == nullptr) {
    return {StatusCode::unsupported,
            "The host executor does not reorder elements of type " + std::string(to_string(type))};
  }
  if (std::int64_t{p.rows} * p.columns < least_elements_for_threads) threads = 1;
  if (threads <= 0) threads = default_threads();
  const std::int64_t strips = (std::int64_t{p.rows} + interleave - 1) / interleave;
  parallel_for(p.batch * strips, threads, [&](int, std::int64_t i) {
    for (std::int64_t column = 0; column < p.columns; column += interleave)
      copy_square(p, {i / strips, i % strips * interleave, column});
  });
  return {};
}

}  // namespace quarry::host
