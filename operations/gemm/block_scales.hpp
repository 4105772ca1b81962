/// Scales of operands as the host executor reads them: of a few lines, at one position of K.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gemm/operand_scale.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"

namespace quarry::host {

/// Writes the scales of `count` lines (rows of A, columns of B) from the first one on to `values`: 1 where
/// the operand has none. @tparam S what they are multiplied in
template <class S>
void read_scales(const OperandScale& scale, int batch, int first_line, int count, std::int64_t k, S* values) {
  if (!scale.is_given) {
    std::fill_n(values, count, S{1});
    return;
  }
  const void* const data =
      first_of(MatrixParams{scale.data, 0, 0, scale.batch_stride}, batch, bits_of(DType::f32));
  for (int i = 0; i < count; ++i) {
    const long long at = index_of(scale, first_line + i, k);
    values[i] = static_cast<S>(read_element<Element<DType::f32>>(data, at));
  }
}

}  // namespace quarry::host
