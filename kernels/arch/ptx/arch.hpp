/// The hardware seam on NVIDIA GPUs. The one place with inline PTX, built-in variables and intrinsics.
#pragma once

#include "arch/ptx/barrier.hpp"
#include "arch/ptx/copy_async.hpp"
#include "arch/ptx/entry.hpp"
#include "arch/ptx/index.hpp"
#include "arch/ptx/matrix.hpp"
#include "arch/ptx/memory.hpp"
#include "arch/ptx/number.hpp"
#include "arch/ptx/warp.hpp"
#include "arch/types.hpp"
