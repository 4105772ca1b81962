/// Parameters of a kernel, which lie in constant memory.
#pragma once

#include "arch/types.hpp"

namespace quarry::arch {

/// Has the value loaded by this point of the program: it decides on an instruction that does nothing. Of a
/// statement without instructions ptxas removes the load.
QUARRY_DEVICE void load_now(int value) {
  asm volatile("{.reg .pred p; setp.eq.s32 p, %0, -1; @p nanosleep.u32 0;}" ::"r"(value));
}

}  // namespace quarry::arch
