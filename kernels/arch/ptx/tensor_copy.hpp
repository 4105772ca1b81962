/// The bulk tensor copy engine: boxes of a tensor of rank 3 to and from shared memory, and pixels of images
/// (PTX ISA, cp.async.bulk.tensor). The tensor map says where the tensor lies, how big the box is and how its
/// bytes are permuted; coordinates count elements, innermost first. What of a box lies outside the tensor is
/// read as zeros and not written.
#pragma once

#include "arch/ptx/entry.hpp"
#include "arch/tensor_map.hpp"
#include "arch/types_sm90.hpp"

namespace quarry::arch {

/// Gets a tensor map ready for copies to come.
QUARRY_DEVICE void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Says that shared memory may be read before anything was written there, whatever it holds: what boxes leave
/// out of a tile. Of the whole block, before its first copy.
QUARRY_DEVICE void read_unwritten(SharedAddress first, int bytes) {
  static_cast<void>(first);
  static_cast<void>(bytes);
}

/// Starts a load of one box, by one thread. Its bytes, those outside the tensor included, count at `barrier`.
QUARRY_DEVICE void tensor_load(SharedAddress to, const TensorMap& map, int x, int y, int z,
                               SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(to.value),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier.value)
      : "memory");
}

/// The same of what no block reads again: it leaves the L2 cache before all else (PTX ISA, createpolicy).
QUARRY_DEVICE void tensor_load_once(SharedAddress to, const TensorMap& map, int x, int y, int z,
                                    SharedAddress barrier) {
  unsigned long long leaves_first;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(leaves_first));
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, "
      "{%2, %3, %4}], [%5], %6;" ::"r"(to.value),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier.value), "l"(leaves_first)
      : "memory");
}

/// tensor_load to all blocks of the cluster whose bit (1 << rank) is set in `blocks`: to the same place in
/// each, and counted at the barrier at the same place in each.
QUARRY_DEVICE void tensor_load_multicast(SharedAddress to, const TensorMap& map, int x, int y, int z,
                                         SharedAddress barrier, unsigned blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%2, %3, %4}], [%5], %6;" ::"r"(to.value),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier.value), "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

/// Starts a load of pixels, line after line, by one thread, over a map whose copies walk (PixelWalk).
QUARRY_DEVICE void tensor_load_pixels(SharedAddress to, const TensorMap& map, const PixelPlace& place,
                                      SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3, "
      "%4, %5}], [%6], {%7, %8};" ::"r"(to.value),
      "l"(&map), "r"(place.channel), "r"(place.column), "r"(place.row), "r"(place.image), "r"(barrier.value),
      "h"(static_cast<unsigned short>(place.columns_on)), "h"(static_cast<unsigned short>(place.rows_on))
      : "memory");
}

/// The same to blocks of the cluster, as tensor_load_multicast does.
QUARRY_DEVICE void tensor_load_pixels_multicast(SharedAddress to, const TensorMap& map,
                                                const PixelPlace& place, SharedAddress barrier,
                                                unsigned blocks) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(to.value),
      "l"(&map), "r"(place.channel), "r"(place.column), "r"(place.row), "r"(place.image), "r"(barrier.value),
      "h"(static_cast<unsigned short>(place.columns_on)), "h"(static_cast<unsigned short>(place.rows_on)),
      "h"(static_cast<unsigned short>(blocks))
      : "memory");
}

/// Starts a store of one box, by one thread. What threads stored to shared memory by ordinary means must be
/// behind async_proxy_fence in each of them, and a barrier.
QUARRY_DEVICE void tensor_store(const TensorMap& map, int x, int y, int z, SharedAddress from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
               "r"(x), "r"(y), "r"(z), "r"(from.value)
               : "memory");
}

/// Ends a group of this thread's stores.
QUARRY_DEVICE void tensor_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until at most `Pending` of this thread's groups still read shared memory.
template <int Pending>
QUARRY_DEVICE void tensor_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

/// Orders this thread's ordinary accesses to shared memory before what copies and matrix instructions, which
/// reach it another way, do behind the next barrier (PTX ISA, proxies).
QUARRY_DEVICE void async_proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace quarry::arch
