/// Where tensors lie, and so where a problem runs. No CUDA header is needed to include this.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {

/// The kind of memory a pointer points to, asked of the driver; plain host memory where there is none. Never
/// `automatic`.
Memory locate(const void* pointer);

/// Where a problem runs.
struct RunPlace {
  enum class Kind : std::uint8_t {
    unknown,  ///< all operands are fake tensors whose memory was left open
    host,     ///< plain host memory: the host executor
    device,   ///< the CUDA device `device`
  };
  Kind kind = Kind::unknown;
  int device = 0;
};

/// Where the operands lie: the view's `memory` where that is set, else what the driver says of the pointer;
/// fake tensors with neither are left out. Device, managed and
/// pinned tensors go together, on the device that tensors of kind `device` are on; two such devices, or plain
/// host memory among them, are refused with mixed_devices, naming the operand that lies elsewhere. Costs a
/// few nanoseconds where every `memory` is set.
Result<RunPlace> place_of(const OperandList& operands);

}  // namespace quarry::detail
