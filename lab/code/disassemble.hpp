/// Machine code as text, by the disassemblers of a CUDA toolkit.
#pragma once

#include <string>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// A kernel's machine code for a target, disassembled: by nvdisasm, or for one that is precompiled, in the
/// form that the library holds, by cuobjdump. Looks for them on PATH, in CUDA_PATH, CUDA_HOME and
/// /usr/local/cuda. Fails with no_compiler, and says what is missing, or as Kernel::compile does.
Result<std::string> disassemble(const Kernel& kernel, int target);

}  // namespace quarry::lab
