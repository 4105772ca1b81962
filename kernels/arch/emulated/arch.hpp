/// The hardware seam on a CPU: the same functions in plain C++, over the emulator, which checks what they do.
/// Each takes, as a last argument that nobody gives, the place of its call.
#pragma once

#include "arch/emulated/barrier.hpp"
#include "arch/emulated/copy_async.hpp"
#include "arch/emulated/entry.hpp"
#include "arch/emulated/index.hpp"
#include "arch/emulated/matrix.hpp"
#include "arch/emulated/memory.hpp"
#include "arch/emulated/number.hpp"
#include "arch/emulated/warp.hpp"
#include "arch/types.hpp"
