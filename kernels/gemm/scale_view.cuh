/// Scales of operands as kernels read them.
#pragma once

#include "arch/arch.hpp"
#include "common/matrix_view.cuh"
#include "gemm/params.hpp"

namespace quarry {

/// The scales of one operand of one batch entry.
class ScaleView {
 public:
  QUARRY_DEVICE ScaleView(const ScaleParams& params, int batch)
      : params_(params),
        first_(static_cast<const float*>(params.values.data) +
               batch_offset(params.values, batch, sizeof(float))) {}

  /// Where the scale of a line lies, of the block of K of this number; null where all are 1. Lines from
  /// `lines` on, which do not exist, have the scale of the last one.
  QUARRY_DEVICE const float* place(int line, int lines, int block) const {
    if (params_.values.data == nullptr) return nullptr;
    const long long row = (line < lines ? line : lines - 1) >> params_.lines_log2;
    return first_ + (row * params_.values.row_stride + block * params_.values.column_stride);
  }

  /// The number of the block of K that a position lies in.
  QUARRY_DEVICE int block_at(int k) const { return k >> params_.k_log2; }

  QUARRY_DEVICE float at(int line, int lines, int block) const {
    const float* const from = place(line, lines, block);
    return from == nullptr ? 1 : arch::global_load<float>(from);
  }

 private:
  const ScaleParams& params_;
  const float* first_;
};

}  // namespace quarry
