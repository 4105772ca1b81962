/// What the seam to the hardware has besides arch.hpp on compute capability 9.0 (compute_90a):
///
///   cluster.hpp      blocks of a cluster: rank, barrier, each other's shared memory
///   mbarrier.hpp     barriers in shared memory with phases, which copies can arrive at
///   tensor_copy.hpp  the bulk tensor copy engine: tiles of tensors to and from shared memory
///   tensor_map.hpp   tensor maps that a kernel makes
///   warpgroup.hpp    matrix multiply-add of four warps from shared memory, register reallocation
///   warpgroup_along_k.hpp the same of tf32, 8-bit floating point and bytes
///   warpgroup_fragment.hpp the same with a left operand in registers
///   store_matrix.hpp fragments to shared memory
///   dependent.hpp    kernels of a stream that overlap
///   parameters.hpp   loads of parameters before they are needed
#pragma once

#include "arch/arch.hpp"

#ifdef QUARRY_EMULATED
#include "arch/emulated/sm90.hpp"
#else
#include "arch/ptx/sm90.hpp"
#endif
