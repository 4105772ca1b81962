/// What the hardware seam has on compute capability 9.0 besides arch.hpp; see arch/ptx/sm90.hpp.
#pragma once

#include "arch/emulated/cluster.hpp"
#include "arch/emulated/dependent.hpp"
#include "arch/emulated/mbarrier.hpp"
#include "arch/emulated/parameters.hpp"
#include "arch/emulated/store_matrix.hpp"
#include "arch/emulated/tensor_copy.hpp"
#include "arch/emulated/tensor_map.hpp"
#include "arch/emulated/warpgroup.hpp"
#include "arch/emulated/warpgroup_along_k.hpp"
#include "arch/emulated/warpgroup_fragment.hpp"
#include "arch/types_sm90.hpp"
