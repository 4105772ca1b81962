/// The operands of arguments in host memory, ready to be copied.
#pragma once

#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/kernel.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"
#include "registry/device/byte_runs.hpp"

namespace quarry::detail {

/// An operand of arguments that may be changed.
struct HostOperand {
  /// Its pointer, in the arguments.
  const void** data = nullptr;
  /// Its view on the host.
  TensorView on_host;
  /// Its elements on the host.
  ByteRuns runs;
  bool is_output = false;
  /// The device needs what the host holds: it is an input, or an output of which a run may leave elements as
  /// they are.
  bool is_read = false;
};

/// Adds the operands that have memory to the list, and makes the views of all operands say that they lie in
/// `place`. Fails with invalid_arguments for a view that is wrong by itself, for one that does not lie in
/// host memory, and for one without data that a run needs, and with unsupported for an array of pointers.
/// @param arguments refer to a struct that may be changed
/// @param kernel of the run, which says the type of numbers behind pointers
Status find_host_operands(const Arguments& arguments, const Kernel& kernel, const Memory& place,
                          std::vector<HostOperand>& operands);

}  // namespace quarry::detail
