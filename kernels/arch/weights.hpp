/// Whole numbers of 4 and 8 bits as numbers of 16 bits: what kernels of narrow weights need besides arch.hpp.
#pragma once

#include "arch/arch.hpp"

#ifdef QUARRY_EMULATED
#include "arch/emulated/weights.hpp"
#else
#include "arch/ptx/weights.hpp"
#endif
