/// Tensor maps that a kernel makes (PTX ISA, tensormap.replace and tensormap.cp_fenceproxy).
#pragma once

#include "arch/ptx/memory.hpp"
#include "arch/ptx/warp.hpp"
#include "arch/tensor_map.hpp"
#include "arch/types_sm90.hpp"

namespace quarry::arch {

/// Makes a tensor map over a matrix, in all else like another one of rank 3, and puts it into global memory;
/// by all lanes of a warp. Whoever copies by it needs acquire_tensor_map first.
/// @param to a multiple of 128 bytes @param scratch 128 bytes of shared memory, of such a place, for this
/// warp alone
QUARRY_DEVICE void make_tensor_map(TensorMap* to, const TensorMap& like, const MatrixLines& matrix,
                                   SharedAddress scratch) {
  const int lane = lane_index();
  const unsigned word = reinterpret_cast<const unsigned*>(&like)[lane];
  warp_barrier();  // the copy of the one before has been read
  shared_store(scratch + 4 * lane, word);
  warp_barrier();
  if (lane == 0) {
    asm volatile(
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;\n\t"
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %2;\n\t"
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %3;\n\t"
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %4;" ::"r"(scratch.value),
        "l"(matrix.data), "r"(matrix.elements), "r"(matrix.lines), "l"(matrix.line_bytes)
        : "memory");
  }
  warp_barrier();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
      "128;" ::"l"(to),
      "r"(scratch.value)
      : "memory");
}

/// Lets this thread copy by a map that a kernel made (PTX ISA, fence.proxy.tensormap).
QUARRY_DEVICE void acquire_tensor_map(const TensorMap& map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&map) : "memory");
}

}  // namespace quarry::arch
