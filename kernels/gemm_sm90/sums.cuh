/// The sums of a warpgroup as the epilogue reads them, and what it computes with.
#pragma once

#include "arch/sm90.hpp"
#include "common/epilogue.cuh"
#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// What the sums that the epilogue reads are, and what the standard chain makes of them: whole numbers where
/// the output is s32, else numbers of f32.
template <Config config>
using SumType = Compute<takes_scales(config) ? DType::f32 : config.types.accumulator>;
template <Config config>
using ValueType = typename EpilogueCompute<SumType<config>, Element<config.types.out>>::Type;

/// A factor of the epilogue: as given, or where the device has it.
template <class Value>
QUARRY_DEVICE Value scalar_factor(double given, const void* pointer) {
  return pointer == nullptr ? static_cast<Value>(given) : arch::global_load<Value>(pointer);
}

/// The neighbouring sums that a lane holds in columns 8 group + 2 (lane % 4) and the next: of row lane / 4 of
/// its warp's 16 (`half` 0) or of the row eight further down (1).
template <int n>
QUARRY_DEVICE arch::Vector<float, 2> sum_pair(const arch::WarpgroupSumsF32<n>& sums, int group, int half) {
  return {sums.v[4 * group + 2 * half], sums.v[4 * group + 2 * half + 1]};
}
template <int n>
QUARRY_DEVICE arch::Vector<int, 2> sum_pair(const arch::WarpgroupSumsS32<n>& sums, int group, int half) {
  return {sums.v[4 * group + 2 * half], sums.v[4 * group + 2 * half + 1]};
}
template <int n>
QUARRY_DEVICE arch::Vector<float, 2> sum_pair(const arch::WarpgroupSumsF16<n>& sums, int group, int half) {
  return arch::row_pair(arch::AccumulatorF16{{sums.v[2 * group], sums.v[2 * group + 1]}}, half);
}

}  // namespace quarry::gemm_sm90
