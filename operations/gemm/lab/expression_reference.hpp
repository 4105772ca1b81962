/// What a GEMM with an expression should give.
#pragma once

#include <cstdint>
#include <span>

#include "common/config_parts.hpp"
#include "lab/expression/reference.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/gemm.hpp"

namespace quarry::lab::gemm {

/// How far a sum of `k` products may be off, as a part of the sum of their magnitudes.
/// @param sums precise: they are promoted every 128 of K
double sum_error(const Types& types, Math math, std::int64_t k, Accumulation sums = Accumulation::fast);

/// What several GEMMs with the same expression should give, whose reductions of all elements are of the
/// elements of all. @param list has the expression, and its scalars
ReferenceOfParts reference_of_problems(std::span<const GemmArguments> problems, const GemmArguments& list,
                                       int threads);

/// All outputs, each value with what a right result may be off by: sums may err as far as the bounds of their
/// types say (lab/reference/tolerance.hpp), four times so for a single one, of the sum of the products'
/// magnitudes. @pre the arguments have an expression, and some kernel takes them
Reference reference_with_expression(const GemmArguments& arguments, const ReferenceOptions& options);

}  // namespace quarry::lab::gemm
