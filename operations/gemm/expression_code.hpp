/// Device code of GEMM epilogues that users wrote, as text over kernels/common/expression_epilogue.cuh.
#pragma once

#include <string>
#include <string_view>

#include "quarry/expression.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm {

/// A struct of this name in namespace quarry, as GEMM kernels take it in the place of StandardChain:
///   inputs, tensors       how many inputs there are, and tensors but `out`
///   type(tensor), out     element types of the tensors and of `out`
///   is_vector(input)      whether an input has a value for each row or for each column
///   operations            how many functions and conversions an element has
///   element(lane)         computes an element: reads lane.sum() and lane.input<i>(), writes lane.out(value)
///                         and lane.output<i>(value)
///   For, Tensors, Parameters    what runs it: see expression_epilogue.cuh
/// Fails with `unsupported` where device code lacks a type. @pre all tensors have a type, and nothing is
/// reduced
Result<std::string> code_of(const Expression& expression, std::string_view name);

}  // namespace quarry::detail::gemm
