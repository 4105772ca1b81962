/// What the results of a problem should be, in float64, and how far results are from it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lab/reference/tolerance.hpp"
#include "quarry/arguments.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

struct ReferenceOptions {
  /// Where all outputs need more multiplications, only some rows of each matrix are computed, spread over all
  /// of them.
  double max_multiplications = std::numeric_limits<double>::infinity();
  /// 0: one a processor.
  int threads = 0;
};

/// What one output should be, before it is rounded to its type.
struct Expected {
  Operand name = Operand::none;
  /// Rows of each matrix that were computed, ascending: all, unless the options cut them down.
  std::vector<std::int64_t> rows;
  std::int64_t all_rows = 0;
  /// Matrices of the output (see Matrices), and columns of each.
  std::int64_t matrices = 0;
  std::int64_t columns = 0;
  /// [matrices][rows][columns]
  std::vector<double> values;
  /// Roundings to the output's type that a right result and these values are apart: 1, or 2 where the values
  /// were rounded as well, so that both may be rounded to different neighbours.
  int roundings = 1;
  /// How far a right result may lie from each value before it is rounded to its type, whatever the tolerance;
  /// empty: nothing is known of single values.
  std::vector<double> radii = {};
  /// How large the sums are that the output is made of, in the Euclidean norm over all of it, when the signs
  /// of what is added are random: what takes the place of the norm of an output that happens to be small.
  double scale = 0;
  /// Bounds that the values were brought into last, and the values before that; empty: there are none.
  Clamp clamp = {};
  std::vector<double> unclamped = {};
  /// The same as `scale` for each output alone, with all that is added to its sum. Only where a clamp or the
  /// range of the type bounds outputs, which leaves less of an error than there was; otherwise empty.
  std::vector<double> magnitudes = {};
};

/// The results of one problem. Computed once, they serve every kernel that runs the problem, since they
/// depend on the operands' values and the epilogue alone.
struct Reference {
  /// Each output, the first one first.
  std::vector<Expected> outputs;

  /// @pre there is such an output
  const Expected& operator[](Operand name) const;
};

/// Computes the reference. All operands are host memory, alpha and beta values or host pointers. Where an
/// operand is `out` itself, call it before the kernel runs. @pre some kernel supports the arguments; fails
/// when memory runs out
Result<Reference> compute_reference(const Arguments& arguments, const ReferenceOptions& options = {});

/// The rows of an output that a reference has: all, or as many as the limit allows (but no fewer than 4), the
/// first and the last among them. @param multiplications what one row of all matrices needs
std::vector<std::int64_t> chosen_rows(std::int64_t rows, double multiplications,
                                      const ReferenceOptions& options);

/// An output of these rows, with room for its values.
Expected expected_output(Operand name, const TensorView& view, const std::vector<std::int64_t>& rows);

/// How a result compares.
struct Comparison {
  /// ||out - reference|| / ||reference||, of bytes beyond rounding (see Tolerance); infinite when one is NaN
  /// or infinite where the other is not.
  double error = 0;
  /// What `error` may be at most.
  double bound = 0;
  /// The element that is furthest off: of which matrix, row and column.
  std::int64_t matrix = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  double expected = 0;
  double got = 0;
  /// Which output these are of.
  Operand operand = Operand::out;
  /// Elements of which it is known how far off each may be (Expected::radii), which then says all: `error` is
  /// of the others. Of these, the ones that no right result has.
  std::int64_t known = 0;
  std::int64_t outside = 0;

  bool within() const { return outside == 0 && error <= bound; }
  /// "error 1e-3, bound 1e-4; furthest off at (0, 1, 2): expected 1, got 2", with "aux: " in front where the
  /// output is not called `out`.
  std::string text() const;
};

/// Compares one result in host memory. Where the reference, rounded to the output's type, is NaN or infinite,
/// the output must be the same. The result does not depend on the threads.
Comparison compare(const Expected& expected, const TensorView& out, const Tolerance& tolerance,
                   int threads = 1);

/// Compares all outputs: the one that is off furthest, for its bound.
Comparison compare(const Reference& reference, const Arguments& arguments, const Tolerance& tolerance);
/// The same for a kernel's results, by its tolerances.
Comparison compare(const Reference& reference, const Arguments& arguments, const KernelMetadata& kernel);

}  // namespace quarry::lab
