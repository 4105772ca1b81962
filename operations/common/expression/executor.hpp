/// Runs an expression on tensors in host memory.
#pragma once

#include <span>

#include "operations/common/expression/device_arithmetic.hpp"
#include "operations/common/expression/interpreter.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::host {

/// Writes values to an expression's outputs, rounded to their types.
struct StoreOutputs {
  /// By the graph's order; they must live as long as this.
  std::span<const HostOperand> outputs;

  void operator()(std::size_t output, const ElementPlace& place, double value) const {
    const HostOperand& to = outputs[output];
    write_element(to.type, to.data, to.index(place), value);
  }
};

/// As kernels compute it. Reductions are added up part by part, in the order of the calls.
using ExpressionExecutor = Interpreter<DeviceArithmetic, StoreOutputs>;

}  // namespace quarry::host
