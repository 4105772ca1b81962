/// The machine code that a kernel needs for a problem.
#pragma once

#include <cstdint>
#include <vector>

#include "quarry/device_model.hpp"
#include "quarry/kernel.hpp"

namespace quarry::detail {

/// An entry, and the dynamic shared memory that a launch of it needs, in bytes.
struct NeededCode {
  std::uint32_t entry = 0;
  unsigned shared_memory = 0;
};

/// The entries of the kernel's launch, with the problem's expression compiled in where it has one, and of the
/// reductions that follow it. Fails where the kernel does not take the problem, and with not_precompiled
/// where the library lacks one of its entries. Null pointers are fine.
/// @param device where the problem is to run; null: nothing says where
Result<std::vector<NeededCode>> needed_code(const Kernel& kernel, Arguments problem,
                                            const DeviceModel* device);

}  // namespace quarry::detail
