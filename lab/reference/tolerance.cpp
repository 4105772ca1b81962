#include "lab/reference/tolerance.hpp"

#include <cmath>

namespace quarry::lab {
namespace {

/// How far sums of k products are off, in roundings of the accumulator:
/// constant + root * sqrt(k) + linear * k.
struct Growth {
  DType accumulator;
  double constant;
  double root;
  double linear;
};
constexpr Growth growths[] = {{DType::f64, 8, 2, 0}, {DType::f32, 16, 2, 0}, {DType::f16, 2, 1, 1.0 / 64}};

double accumulation(DType accumulator, DType out, MathUnit unit, double k) {
  const double rounding = unit_roundoff(accumulator);
  if (is_integer(accumulator)) return out == accumulator ? 0 : unit_roundoff(DType::f32) * 8;
  if (accumulator == DType::f32 && unit == MathUnit::tensor_core) return rounding * 16 + 1e-8 * k;
  for (const Growth& g : growths) {
    if (g.accumulator == accumulator) return rounding * (g.constant + g.root * std::sqrt(k) + g.linear * k);
  }
  return 0;
}

/// The same of 8-bit floating-point operands on tensor cores, whose sums keep 14 bits or so between
/// instructions.
double fp8_accumulation(double k) { return 0x1p-13 * (1 + k / 64); }

/// The same where the sums of each 128 of K are added up by FMA.
double promoted_fp8_accumulation(double k) {
  return fp8_accumulation(std::min(k, 128.0)) + accumulation(DType::f32, DType::f32, MathUnit::simt, k / 128);
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

bool is_made_of_tanh(Activation activation) {
  switch (activation) {
    case Activation::tanh:
    case Activation::sigmoid:
    case Activation::silu:
    case Activation::gelu:
    case Activation::gelu_tanh: return true;
    default: return false;
  }
}

}  // namespace

Tolerance tolerance(DType accumulator, DType out, MathUnit unit, std::int64_t k, Math math, DType operands,
                    Accumulation sums) {
  Tolerance t;
  const bool adds_apart = math == Math::fast_f32;  // by instructions that round
  const auto products = static_cast<double>(k);
  t.accumulation =
      accumulation(accumulator, out, adds_apart ? MathUnit::simt : unit, products) + operand_rounding(math);
  if (is_fp8(operands) && unit == MathUnit::tensor_core) {
    t.accumulation =
        sums == Accumulation::fast ? fp8_accumulation(products) : promoted_fp8_accumulation(products);
  }
  t.output = unit_roundoff(out);
  if (is_floating(out)) t.smallest = info_of(out).smallest / 2;
  return t;
}

Tolerance tolerance(const KernelMetadata& kernel, std::int64_t k, Activation activation) {
  Tolerance t = tolerance(
      kernel.operands.accumulator, kernel.operands.out.dtype, kernel.design.math_unit, k, kernel.design.math,
      kernel.operands.a.dtype,
      kernel.operands.scales == ScaleSupport::block_scales ? Accumulation::precise : Accumulation::fast);
  const DType out = kernel.operands.out.dtype;
  const bool is_short = is_half(out) || (kernel.cc >= 90 && is_byte(out));
  if (is_short && is_made_of_tanh(activation)) t.accumulation += 0x1p-11;
  return t;
}

}  // namespace quarry::lab
