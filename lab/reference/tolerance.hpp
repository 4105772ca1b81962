/// How far a right result may be from the float64 reference: the one table that tests and the `verify`
/// command judge by.
#pragma once

#include <cstdint>

#include "quarry/metadata.hpp"
#include "quarry/types.hpp"

namespace quarry::lab {

/// Bounds of an error, in the Euclidean norm over all outputs. A result is right when
///
///   ||out - reference|| <= output * ||reference|| + accumulation * max(||reference||, scale)
///                          + smallest * sqrt(number of outputs)
///
/// An output of whole numbers of at most 8 bits is off only as far as it is further than half a unit from the
/// reference, which is first brought into the type's range: so much is rounding. Where the reference was
/// rounded as well (Expected::roundings), it is one unit, as both may be rounded to different neighbours.
///
/// where `scale` is the norm that the sums of such operands have when their signs are random (see Reference).
/// It takes the place of the reference's own norm where the products happen to cancel, or an activation makes
/// the outputs small.
///
/// A clamp, or the range of a type that saturates, leaves less of an error than there was. Where an output is
/// x before that, it may become what it makes of anything in [x - r, x + r], with
/// r = 4 accumulation max(|x|, scale of this output). The norm of these distances takes the place of
/// accumulation * max(||reference||, scale) where it is smaller.
///
/// `output` is half a unit in the last place: 2^-11 for f16, 2^-8 for bf16, 2^-24 for f32, 2^-53 for f64,
/// 2^-4 for e4m3, 2^-3 for e5m2. `smallest` is half the smallest subnormal. Both come from the table of
/// types. `accumulation`, over K products:
///
/// | accumulator | unit        | bound                       |
/// | f64         | any         | 2^-53 (8 + 2 sqrt K)        |
/// | f32         | simt        | 2^-24 (16 + 2 sqrt K)       |
/// | f32         | tensor core | 2^-24 16 + 1e-8 K           |
/// | f32         | tensor core, e4m3 and e5m2 operands | 2^-13 (1 + K / 64) |
/// | f32         | the same, promoted every 128 of K | as if K were 128, and f32 by simt over K / 128 |
/// | f16         | any         | 2^-11 (2 + sqrt K + K / 64) |
/// | s32         | any         | 0 to s32, otherwise 2^-24 8 |
///
/// Kernels that round f32 operands first (Math) err by that, too: 2^-10 for fast_tf32 and fast_f16, 2^-7 for
/// fast_bf16, twice what one operand is off at most. fast_f32 adds up like f32 by FMA, with a constant of 24.
/// Operands that f16 cannot hold are beyond any bound.
///
/// Why: errors of rounding are random, so that they add up as sqrt K does; the f64 bound leaves room for the
/// reference's own. f32 through FMA was measured as 1.2e-6 at K = 4096, where the bound is 8.6e-6. Tensor
/// cores truncate f32 sums, sums of 8-bit floating-point operands behind 14 bits or so, which errs to one
/// side: linear in K, measured as 9.7e-6 at 4096 and 3.9e-5 at 16384, a quarter of the bound. f16 sums are
/// rounded after each product (simt) or each instruction's 16. s32 sums are exact (they wrap, and so does the
/// reference), and so are s32 outputs; others are rounded by the epilogue, which computes in f32. The
/// constants also cover the epilogue, whose f32 functions are within a few 1e-7. Bounds for f16 sums cannot
/// tell whether a single product is lost; small integers can, whose sums are exact.
struct Tolerance {
  double output = 0;
  double accumulation = 0;
  double smallest = 0;
};

/// The bounds for these types over K products. @param operands the type of both, where it matters: e4m3
/// stands for all of 8-bit floating point @param sums of such operands on tensor cores
Tolerance tolerance(DType accumulator, DType out, MathUnit unit, std::int64_t k, Math math = Math::exact,
                    DType operands = DType::none, Accumulation sums = Accumulation::fast);

/// Those of a kernel. One that takes scales of blocks promotes its sums. Kernels that leave outputs of 16
/// bits, and those for compute capability 9.0 that leave 8, compute tanh, and activations that are made of
/// it, by an instruction whose relative error is 2^-11 at most (PTX ISA, tanh.approx): what they make of z is
/// off by 2^-11 |z| at most.
/// @param activation that follows the products
Tolerance tolerance(const KernelMetadata& kernel, std::int64_t k,
                    Activation activation = Activation::identity);

}  // namespace quarry::lab
