/// GEMMs with scales of their operands, for tests. No memory belongs to them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"

namespace quarry::test {

inline TensorView scale_view(std::initializer_list<std::int64_t> extents, const void* data = nullptr) {
  return TensorView::row_major(data, DType::f32, extents);
}

/// 256 x 384 of K = 1000: 8 blocks along K, the last one of 104, and 3 along N.
inline GemmArguments scalable() {
  return {.a = TensorView::row_major(nullptr, DType::f16, {256, 1000}),
          .b = TensorView::column_major(nullptr, DType::f16, {1000, 384}),
          .out = TensorView::row_major(nullptr, DType::f16, {256, 384})};
}

inline GemmArguments with_a(ScaleGranularity granularity, const TensorView& scale) {
  GemmArguments args = scalable();
  args.a_scale = scale;
  args.a_scale_granularity = granularity;
  return args;
}

inline GemmArguments with_b(ScaleGranularity granularity, const TensorView& scale) {
  GemmArguments args = scalable();
  args.b_scale = scale;
  args.b_scale_granularity = granularity;
  return args;
}

/// Arguments that a row takes, of its types and layouts.
inline GemmArguments taken_by(const detail::Row& row) {
  const OperandsMetadata& o = row.metadata.operands;
  // A kernel that copies operands first takes none that needs no copy: lines of A begin anywhere.
  const auto copied = [](const OperandMetadata& operand, std::int64_t rows, std::int64_t columns) {
    return operand.layout == Layout::row
               ? TensorView::row_major(nullptr, operand.dtype, {rows, columns}, columns + 1)
               : TensorView::column_major(nullptr, operand.dtype, {rows, columns}, rows + 1);
  };
  const auto view = [](const OperandMetadata& operand, std::int64_t rows, std::int64_t columns) {
    switch (operand.layout) {
      case Layout::row: return TensorView::row_major(nullptr, operand.dtype, {rows, columns});
      case Layout::column: return TensorView::column_major(nullptr, operand.dtype, {rows, columns});
      case Layout::row_interleaved32:
        return TensorView::row_interleaved32(nullptr, operand.dtype, {rows, columns});
      default: return TensorView::column_interleaved32(nullptr, operand.dtype, {rows, columns});
    }
  };
  return {.a = row.metadata.design.reorders ? copied(o.a, 64, 128) : view(o.a, 64, 128),
          .b = view(o.b, 128, 96),
          .out = view(o.out, 64, 96),
          .accumulator = o.accumulator,
          .math = row.metadata.design.math};
}

}  // namespace quarry::test
