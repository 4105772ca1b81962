/// Scales and zero points of operands as the host executor reads them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gemm/operand_scale.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"

namespace quarry::host {

/// Writes the scales at one position of K of `count` lines (rows of A, columns of B) from the first one on to
/// `values`: 1 where the operand has none. @tparam S what they are multiplied in
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

/// Zero points of the lines of one block.
class BlockZeros {
 public:
  BlockZeros(const OperandScale& scale, int batch, int first_line)
      : zero_(scale.zero), granularity_(scale.granularity), first_line_(first_line) {
    if (zero_.is_given)
      data_ = first_of(MatrixParams{zero_.data, 0, 0, zero_.batch_stride}, batch, bits_of(DType::u8));
  }

  bool has_any() const { return zero_.is_given; }
  int at(int line, std::int64_t k) const {
    return static_cast<int>(
        read_element<Element<DType::u8>>(data_, index_of(granularity_, zero_, first_line_ + line, k)));
  }

 private:
  const OperandZero& zero_;
  ScaleGranularity granularity_;
  int first_line_;
  const void* data_ = nullptr;
};

}  // namespace quarry::host
