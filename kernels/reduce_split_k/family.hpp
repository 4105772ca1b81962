/// The interface of families whose kernels add up the slices of a split K:
/// Operation::reduce_split_k. Host only.
#pragma once

#include "../family.hpp"  // by its place: this file has the same name
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry {

/// A reduction after its arguments were checked: what families decide and launch by. Sizes of 0 are legal,
/// except for the slices.
struct ReduceProblem {
  DType partials = DType::none;
  DType out = DType::none;
  /// row, whatever the strides, or interleaved.
  Layout layout = Layout::row;
  /// Whether the partial sums lie as `params` says: packed.
  bool is_packed = false;
  bool has_c = false;  ///< C will be read: beta is not known to be 0
  bool has_bias = false;
  bool has_scale = false;
  bool has_residual = false;
  bool has_aux = false;
  /// Pointers are null for fake tensors.
  ReduceParams params = {};
};

/// Whether nothing is computed because the output has no elements.
constexpr bool is_empty(const ReduceProblem& problem) {
  return problem.params.m == 0 || problem.params.n == 0 || problem.params.batch == 0;
}

class ReduceFamily : public Family {
 public:
  /// Whether the kernel takes the problem: how the partial sums lie, limits of the grid. Types were matched
  /// by the caller, who also checked the device's compute capability.
  virtual Status supports(const void* config, const ReduceProblem& problem) const = 0;

  /// Predicted seconds, and what they are made of. @pre supports()
  virtual Account account(const void* config, const ReduceProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Fills a launch, which is empty. @pre supports()
  virtual void launch(const void* config, const ReduceProblem& problem, Launch& launch) const = 0;

 protected:
  constexpr ~ReduceFamily() = default;
};

}  // namespace quarry
