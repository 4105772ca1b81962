/// Epilogues that a user wrote, of kernels whose operands have scales: the expression stands behind the
/// scales, and these stand behind the parameters that epilogues are given.
#pragma once

#include "common/expression_epilogue.cuh"
#include "common/wide_epilogue.cuh"
#include "gemm/params.hpp"

namespace quarry {

/// All parameters of a kernel, of which an epilogue is given the first member: a struct of standard layout
/// (kernels/gemm/host.cpp) has the address of its first member.
/// @tparam Whole ScaledGemmParams with an expression
template <class Whole>
QUARRY_DEVICE const Whole& whole_of(const GemmParams& params) {
  return static_cast<const Whole&>(reinterpret_cast<const ScaledGemmParams&>(params));
}

/// An expression of each element by itself.
template <class Code, class Sum, class Out, EpilogueForm form>
class ScaledEpilogue : public ExpressionEpilogue<Code, Sum, Out, form> {
 public:
  QUARRY_DEVICE ScaledEpilogue(const GemmParams& params, int batch)
      : ExpressionEpilogue<Code, Sum, Out, form>(
            whole_of<WithExpression<ScaledGemmParams>>(params).expression, batch, params.out, batch) {}
};

/// One with gated pairs or reductions.
template <class Code, class Sum, class Out, EpilogueForm form>
class WideScaledEpilogue : public WideEpilogue<Code, Sum, Out, form> {
 public:
  QUARRY_DEVICE WideScaledEpilogue(const GemmParams& params, int batch)
      : WideEpilogue<Code, Sum, Out, form>(whole_of<WithReductions<ScaledGemmParams>>(params), params, batch,
                                           batch) {}
};

/// The code of an expression for such kernels: of each element by itself, or wide.
template <class Code>
struct ScaledCode : Code {
  template <class Sum, class Out, EpilogueForm form>
  using For = ScaledEpilogue<Code, Sum, Out, form>;
};
template <class Code>
struct WideScaledCode : Code {
  template <class Sum, class Out, EpilogueForm form>
  using For = WideScaledEpilogue<Code, Sum, Out, form>;
};

}  // namespace quarry
