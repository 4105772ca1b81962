/// Zero points of operands as kernels read them.
#pragma once

#include "arch/arch.hpp"
#include "common/matrix_view.cuh"
#include "gemm/params.hpp"

namespace quarry {

/// The zero points of one operand of one batch entry.
class ZeroView {
 public:
  /// @param scales of the operand, which have the same granularity
  QUARRY_DEVICE ZeroView(const MatrixParams& values, const ScaleParams& scales, int batch)
      : first_(static_cast<const unsigned char*>(values.data) + batch_offset(values, batch, 1)),
        line_stride_(values.row_stride),
        k_stride_(values.column_stride),
        lines_log2_(scales.lines_log2),
        k_log2_(scales.k_log2) {}

  /// Where the zero point of an element is. @pre both exist
  QUARRY_DEVICE const unsigned char* place(int line, int k) const {
    return first_ + ((line >> lines_log2_) * line_stride_ + (k >> k_log2_) * k_stride_);
  }
  QUARRY_DEVICE unsigned at(int line, int k) const {
    return arch::global_load<unsigned char>(place(line, k));
  }

 private:
  const unsigned char* first_;
  long long line_stride_;
  long long k_stride_;
  int lines_log2_;
  int k_log2_;
};

}  // namespace quarry
