/// The interface of families whose kernels reorder matrices (Operation::reorder). Host only.
#pragma once

#include "../family.hpp"  // by its place: this file has the same name
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/types.hpp"
#include "reorder_matrix/params.hpp"

namespace quarry {

/// A reorder after its arguments were checked: what families decide and launch by. Sizes of 0 are legal.
struct ReorderProblem {
  DType type = DType::none;
  /// Pointers are null for fake tensors.
  ReorderParams params = {};
};

/// Whether nothing is copied because there are no elements.
constexpr bool is_empty(const ReorderProblem& problem) {
  return problem.params.rows == 0 || problem.params.columns == 0 || problem.params.batch == 0;
}

class ReorderFamily : public Family {
 public:
  /// Predicted seconds, and what they are made of. A kernel takes every problem of its type.
  virtual Account account(const void* config, const ReorderProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Fills a launch, which is empty.
  virtual void launch(const void* config, const ReorderProblem& problem, Launch& launch) const = 0;

 protected:
  constexpr ~ReorderFamily() = default;
};

}  // namespace quarry
