/// The hardware seam on NVIDIA GPUs of compute capability 9.0: what these have and others lack.
#pragma once

#include "arch/ptx/cluster.hpp"
#include "arch/ptx/dependent.hpp"
#include "arch/ptx/mbarrier.hpp"
#include "arch/ptx/parameters.hpp"
#include "arch/ptx/store_matrix.hpp"
#include "arch/ptx/tensor_copy.hpp"
#include "arch/ptx/tensor_map.hpp"
#include "arch/ptx/warpgroup.hpp"
#include "arch/ptx/warpgroup_along_k.hpp"
#include "arch/ptx/warpgroup_fragment.hpp"
#include "arch/types_sm90.hpp"
