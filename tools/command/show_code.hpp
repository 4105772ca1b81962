/// What a kernel is made of: its source, PTX or machine code.
#pragma once

#include <span>

#include "quarry/kernel.hpp"

namespace quarry::command {

enum class CodeForm {
  source,  ///< the instantiation that is compiled, and the embedded files that it reaches
  ptx,     ///< by the run-time compiler
  sass,    ///< disassembled machine code: what is precompiled, in the cache, or compiled now
};

/// Prints each kernel's code for a target (80, 90). @return the exit status
int show_code(std::span<const Kernel> kernels, CodeForm form, int target);

}  // namespace quarry::command
