#include "lab/reference/tolerance.hpp"

#include <cmath>

namespace quarry::host {
namespace {

double accumulation(DType accumulator, DType out, MathUnit unit, double k) {
  switch (accumulator) {
    case DType::s32: return out == DType::s32 ? 0 : 0x1p-24 * 8;
    case DType::f64: return 0x1p-53 * (8 + 2 * std::sqrt(k));
    case DType::f32:
      return unit == MathUnit::tensor_core ? 0x1p-24 * 16 + 1e-8 * k : 0x1p-24 * (16 + 2 * std::sqrt(k));
    case DType::f16: return 0x1p-11 * (2 + std::sqrt(k) + k / 64);
    default: return 0;
  }
}

/// What rounding both operands adds.
double operand_rounding(Math math) {
  switch (math) {
    case Math::fast_tf32:
    case Math::fast_f16: return 0x1p-10;
    case Math::fast_bf16: return 0x1p-7;
    case Math::fast_f32: return 0x1p-24 * 8;
    default: return 0;
  }
}

}  // namespace

Tolerance tolerance(DType accumulator, DType out, MathUnit unit, std::int64_t k, Math math) {
  Tolerance t;
  const bool adds_apart = math == Math::fast_f32;  // by instructions that round
  t.accumulation =
      accumulation(accumulator, out, adds_apart ? MathUnit::simt : unit, static_cast<double>(k)) +
      operand_rounding(math);
  switch (out) {
    case DType::f16: t.output = 0x1p-11, t.smallest = 0x1p-25; break;
    case DType::bf16: t.output = 0x1p-8, t.smallest = 0x1p-134; break;
    case DType::f32: t.output = 0x1p-24, t.smallest = 0x1p-150; break;
    case DType::f64: t.output = 0x1p-53; break;
    default: break;
  }
  return t;
}

Tolerance tolerance(const KernelMetadata& kernel, std::int64_t k) {
  return tolerance(kernel.operands.accumulator, kernel.operands.out.dtype, kernel.design.math_unit, k,
                   kernel.design.math);
}

}  // namespace quarry::host
