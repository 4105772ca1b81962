/// What a problem's result should be, in float64, and how far a result is from it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lab/reference/tolerance.hpp"
#include "quarry/arguments.hpp"
#include "quarry/gemm.hpp"
#include "quarry/reduce_split_k.hpp"

namespace quarry::host {

struct ReferenceOptions {
  /// Where all outputs need more multiplications, only some rows of each matrix are computed, spread over all
  /// of them.
  double max_multiplications = std::numeric_limits<double>::infinity();
  /// 0: one a processor.
  int threads = 0;
};

/// The result of one problem, before it is rounded to the output's type. Computed once, it serves every
/// kernel that runs the problem, since it depends on the operands' values and the epilogue alone.
struct Reference {
  /// Rows of the output that were computed, ascending: all, unless the options cut them down.
  std::vector<std::int64_t> rows;
  std::int64_t batch = 0;
  std::int64_t columns = 0;
  /// [batch][rows][columns]
  std::vector<double> values;
  /// The same of what is written to aux, before the activation; empty where there is no aux.
  std::vector<double> aux;
  /// |alpha| ||S A|| ||B|| / sqrt(K) + |beta| ||C||, the first norms taken over each batch entry, S the scale
  /// (of B where it is one of columns): how large the sums before the activation are when the signs of
  /// products are random. Of a reduction |alpha| ||S P|| + |beta| ||C||, P all partial sums.
  double scale = 0;
};

/// Computes the reference. All operands are host memory, alpha and beta values or host pointers. Where C or
/// the residual is `out` itself, call it before the kernel runs. @pre some kernel supports the arguments;
/// fails when memory runs out
Result<Reference> compute_reference(const GemmArguments& arguments, const ReferenceOptions& options = {});
/// The same of a reduction; a partial sum counts as a multiplication.
Result<Reference> compute_reference(const ReduceSplitKArguments& arguments,
                                    const ReferenceOptions& options = {});

/// How a result compares.
struct Comparison {
  /// ||out - reference|| / ||reference||, of bytes beyond rounding (see Tolerance); infinite when one is NaN
  /// or infinite where the other is not.
  double error = 0;
  /// What `error` may be at most.
  double bound = 0;
  /// The output that is furthest off.
  std::int64_t entry = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  double expected = 0;
  double got = 0;
  /// Which output these are of: `out` or `aux`.
  Operand operand = Operand::out;

  bool within() const { return error <= bound; }
};

/// Compares both outputs of a problem, `out` and aux where there is one: the one that is off further, for its
/// bound.
Comparison compare(const Reference& reference, const GemmArguments& arguments, const Tolerance& tolerance);

/// Compares a result in host memory with the reference of its problem. Where the reference, rounded to the
/// output's type, is NaN or infinite, the output must be the same.
Comparison compare(const Reference& reference, const TensorView& out, const Tolerance& tolerance);

}  // namespace quarry::host
