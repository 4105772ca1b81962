/// What a kernel is made of: its source, PTX or machine code.
#pragma once

#include <string>

#include "quarry/kernel.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

enum class CodeForm {
  source,  ///< the instantiation that is compiled, and the embedded files that it reaches
  ptx,     ///< by the run-time compiler
  sass,    ///< disassembled machine code: what is precompiled, in the cache, or compiled now
};

/// A kernel's code for a target (80, 90). Fails as the compiler or the disassembler does.
Result<std::string> code_text(const Kernel& kernel, CodeForm form, int target);

}  // namespace quarry::lab
