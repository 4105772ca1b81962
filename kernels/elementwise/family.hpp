/// The interface of families whose kernels compute an expression element by element
/// (Operation::elementwise). Host only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../family.hpp"  // by its place: this file has the same name
#include "elementwise/params.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry {

class Expression;

/// A tensor of a checked problem.
struct ElementwiseOperand {
  Operand name = Operand::none;  ///< none: a value
  DType type = DType::none;
  bool is_output = false;
  /// Not an output of what a reduction leaves.
  bool has_elements = true;
  /// An index chooses its rows.
  bool is_gathered = false;
  /// What its address is a multiple of, 256 at most.
  unsigned alignment = 0;
};

/// How many reductions of an expression leave a value for each group, row, column, and for all.
struct ElementwiseReductions {
  int groups = 0;
  int rows = 0;
  int columns = 0;
  int all = 0;

  constexpr bool has_any() const { return groups + rows + columns + all > 0; }
};

/// An elementwise problem after its arguments were checked: what families decide and launch by. Sizes of 0
/// are legal.
struct ElementwiseProblem {
  /// Extents are as few as can be: neighbours in all tensors are one. The last one is that along which
  /// elements of the first output lie closest. With reductions, and where rows are gathered, they are as
  /// `out` has them: rows and columns last.
  ElementwiseParams params = {};
  /// As params.tensors.
  ElementwiseOperand operands[elementwise_tensors] = {};
  int inputs = 0;
  int tensors = 0;
  ElementwiseReductions reductions = {};
  /// What is computed, which lives as long as the arguments; null: the one input is copied, and both tensors
  /// are described as bytes.
  const Expression* expression = nullptr;
};

/// Bytes of a tensor's elements, as `params` describes them.
constexpr int element_bytes(const ElementwiseProblem& problem, int tensor) {
  return problem.expression == nullptr ? 1 : bytes_of(problem.operands[tensor].type);
}

constexpr long long element_count(const ElementwiseProblem& problem) {
  const long long* const e = problem.params.extents;
  return e[0] * e[1] * e[2] * e[3];
}

class ElementwiseFamily : public Family {
 public:
  /// Whether the kernel takes the problem: strides and alignment, limits of the grid. The caller checked the
  /// device's compute capability.
  virtual Status supports(const void* config, const ElementwiseProblem& problem) const = 0;

  /// Predicted seconds, and what they are made of. @pre supports()
  virtual Account account(const void* config, const ElementwiseProblem& problem,
                          const DeviceModel& device) const = 0;

  /// The device work, except for the expression, in a launch without any. @pre supports()
  virtual void launch(const void* config, const ElementwiseProblem& problem, Launch& launch) const = 0;

  /// Bytes of workspace that the launch needs. @pre supports()
  virtual std::size_t workspace_size(const void* config, const ElementwiseProblem& problem) const = 0;

 protected:
  constexpr ~ElementwiseFamily() = default;
};

}  // namespace quarry
