/// A problem with operands: random, the same for the same seed on every machine, in guarded memory.
#pragma once

#include <cstdint>

#include "lab/problems/guarded_tensor.hpp"
#include "quarry/arguments.hpp"
#include "quarry/gemm.hpp"
#include "quarry/reduce_split_k.hpp"

namespace quarry::host {

/// What operands hold.
enum class Values : std::uint8_t {
  uniform,         ///< uniform in [-1, 1), rounded to the operand's type; of an integer type, over all of it,
                   ///< one in 16 its least or its greatest number
  small_integers,  ///< -2 to 2 (unsigned: 0 to 2), so that every sum is exact in every type as long as its
                   ///< magnitude stays below 2048
};

struct RandomOptions {
  std::uint64_t seed = 0;
  Values values = Values::uniform;
  /// C is the output's own memory.
  bool in_place = false;
  /// So is the residual.
  bool residual_in_place = false;
};

/// Operands in host memory and the arguments that name them. Movable, not copyable.
///
/// An element's value depends on the seed, the operand and its (batch, row, column) alone, not on layout or
/// stride: problems that differ in those alone have the same result.
struct RandomProblem {
  GemmArguments arguments;
  GuardedTensor a;
  GuardedTensor b;     ///< empty in a reduction
  GuardedTensor c;     ///< empty when there is none or it is `out` itself
  GuardedTensor bias;  ///< empty when there is none, as those below
  GuardedTensor scale;
  GuardedTensor residual;  ///< empty when it is `out` itself
  GuardedTensor aux;
  GuardedTensor out;
  RandomOptions options;
  /// Of a reduction, whose tensors `arguments` holds in the roles of a GEMM's (in_gemm_roles): its slices; 0:
  /// the problem is a GEMM.
  std::int64_t slices = 0;

  /// Operands for arguments of this shape: types, extents, strides, assumed alignments, epilogue; data
  /// pointers are not looked at. A C beside beta 0 is all poison, since it must not be read. Fails as
  /// GuardedTensor::make does, and with `unsupported` for no type.
  static Result<RandomProblem> make(const GemmArguments& shape, const RandomOptions& options = {});
  /// The same of a reduction. Partial sums of integers are any of all numbers.
  static Result<RandomProblem> make(const ReduceSplitKArguments& shape, const RandomOptions& options = {});

  /// The arguments of the reduction. @pre slices > 0
  ReduceSplitKArguments reduction() const;

  /// Makes `out` and aux ready for a run: poison, or C's or the residual's values where `out` is these.
  void reset_output();

  /// After a run: whether all of `out` (unless it was an input) and of aux was written, and nothing around
  /// them.
  Status check_output() const;

 private:
  /// Gives memory to what the epilogue reads and writes beside C.
  Status make_epilogue(const Epilogue& shape);
};

/// Fills a tensor in host memory with the values that operand number `operand` has under these options.
void fill_random(const TensorView& tensor, std::uint64_t operand, const RandomOptions& options);

}  // namespace quarry::host
